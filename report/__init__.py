"""Commands that explain, check, change and draw the answers of lab3.py: `python3 report COMMAND`.

In the order in which one would read it:

    __main__     the front door: which command, how it ends
    text         numbers and tables in 80 columns
    model        the formulas, evaluated; edits, such as the ring; bounds
    question     what is asked: network, machine, inputs; which models that makes; in words
    sram         what each node holds
    results      what both strategies take; who works when; on which links which is faster
    options      the options that say what is asked
    run          `run`: what a class handed in, unpacked and run, each output in a file
    whatif       `whatif`: lab3.py's answers for other numbers
    check/       `check`: which mistake, an edit of the formulas, makes these numbers
    derivations  the topics of `explain`: where every number comes from
    explain      `explain`: Q1 to Q4 on one page, JSON
    files        files that are never half
    pictures     `picture`: timeline, time per input against the number of inputs
    deck/        `deck`: the slides

A question is what is passed; numbers are computed where they are printed. Names of functions:

    compute_  a number      list_  rows      find_  what fits          make_  an object
    format_   a value or table as text       describe_  sentences       explain_  a topic

Imports go one way: a module builds on lab3 and modules above it. __main__ imports the module
of a command when it runs.
"""
