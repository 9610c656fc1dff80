"""Commands that explain, check, change and draw the answers of lab3.py: `python3 report COMMAND`.

In the order in which one would read it:

    __main__     the front door: which command, how it ends
    model        the formulas in lab3.py's docstrings, evaluated; edits, such as the ring; bounds
    timeline     who works when, by the formulas as they were delivered
    sram         what each node holds
    question     what is asked: network, machine, inputs; the options that say it; `whatif`
    results      what both strategies take and why, computed once; on which links which is faster
    check/       `check`: which mistake, an edit of the formulas, makes these numbers
    derivations  the topics of `explain`: where every number comes from
    explain      `explain`: Q1 to Q4 on one page, JSON
    pictures     `picture`: timeline, time per input against the number of inputs
    deck/        `deck`: the slides
    text         numbers and tables in 80 columns

Imports go one way: a module builds on lab3, text and modules above it. __main__ imports the module
of a command when it runs.
"""
