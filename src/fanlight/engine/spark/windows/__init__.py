"""The classes that ``fl.over`` returns: a checked request, which its methods plan and build."""
