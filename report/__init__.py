"""Commands that explain, check, change and draw the answers of lab3.py: `python3 report COMMAND`.

The modules, in reading order:

    __main__     the command line: choice of a command, errors, exit status
    text         numbers and tables in 80 columns
    model        lab3.py's formulas, evaluated; edits, such as the ring; bounds
    question     a question: network, machine, inputs; its models and its description
    sram         what each node holds
    results      latency and traffic; who works when
    options      the command-line options that make a question
    files        files written whole or not at all
    run          `run`: a class's submissions, unpacked and run, each output in a file
    whatif       `whatif`: lab3.py's answers for other numbers
    check/       `check`: which mistake, an edit of the formulas, explains a submission's numbers
    derivations  the topics of `explain` that derive every number
    explain      `explain`: Q1 to Q4 on one page, JSON
    pictures     `picture`: timeline, time per input against the number of inputs
    deck/        `deck`: the slides

Functions pass questions. Most names of functions say what they return:

    compute_  a number      list_  rows      find_  a match            make_  an object
    format_   a value or table as text       describe_  sentences       explain_  a topic

A module imports only lab3 and modules above it; __main__ imports a command's when it runs.
"""


class InputError(ValueError):
    """A user's mistake, such as a wrong option or an unusable lab3.py, in one sentence."""
