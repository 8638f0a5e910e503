"""The cost model: what each candidate is estimated to take, so that the cheapest can be chosen.

A cost is the work of one core in nanoseconds, and only ratios mean anything: if all constants
doubled, every choice would be as before. It is the cost of

- a SLIDE of the first windows, for time windows: as many windows as there are keys. With
  slices of one width a SLIDE has one slice or a few, and a row enters the work once;
- a row, for data-driven windows: the candidates of frames see the same rows;
- the search in a unit of time, at most, for progressive widening, which has one candidate.

Candidates are compared with those of the same request alone, so the units never meet.

===========  =======================================================================================
module       formulas
===========  =======================================================================================
`points`     Rows in sliding windows. `scan`, `difference` and `expand` are 3.1 to 3.3 of Li et al.,
             *No Pane, No Gain*, with `slicing` their first terms. Two stacks, copies, value
             counts, lifetimes, ranks, Spark's own windows, chains of granules are ours.
`lasting`    Events with a duration. `Steps` count what Suzanne et al. have in Table 4, event costs
             and window costs; levels, cells and copies into windows are ours.
`framed`     Frames and widening: ours. The rows that widening searches are bounded by Theorem 2 of
             its paper, in ``plan/widening.py``.
`fixed`      Fixed costs of a plan, whatever the number of rows, spread over the data where it is
             known to be little: ours.
`constants`  The table of all numbers, which formulas name.
===========  =======================================================================================

A formula says what is touched how often; a constant says what a touch takes. Numbers within
formulas count something that follows from the technique, for example two entries an event.
"""
