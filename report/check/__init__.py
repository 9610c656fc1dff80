"""Which numbers of a submission are right, and which mistake explains the others.

How a row becomes a cause, function by function:

    rows.read_rows              "PP, 32 inputs: 397.93 ms" has a strategy, a question and a latency
    number.read_number          0.39793 s, of 5 digits, which has been rounded or truncated
    submission.read_submission  chooses this row for the line Q2 pipeline latency
    judge.make_cases            0.1557861376 s is right, or what --key says: the number is wrong
    mistakes.compute_line       0.39793000448 s with the row "inputs do not overlap" of the table
    diagnosis.diagnose          so this mistake makes the number, contradicts no right one, and has
                                digits enough; it is in an Explanation, with the line
    judge.judge                 the Judgement has that as a cause
    words.describe_judgement    "pipeline parallelism: inputs do not overlap, but the handout ..."
    command.run                 prints that: for one submission, in a class, or as CSV
"""
