"""The classes that ``fl.over`` returns: a request, checked; each terminal method builds a plan."""
