"""Li et al., *No Pane, No Gain*: Figure 3 and Queries 1 to 4.

Run ``python -m experiments.panes``; the result is told in ``claim.md``.
"""
