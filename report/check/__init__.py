"""Which numbers of a submission are right, and which mistake explains the others.

How a row becomes a cause, function by function; judge.judge calls all but the last two:

    rows.read_rows              "PP, 32 inputs: 397.93 ms" has a strategy, a question and a latency
    number.read_number          the number is 0.39793 s, with 5 digits, rounded or truncated
    submission.read_submission  this row is chosen for the line Q2 pipeline latency
    judge.make_cases            by lab3.py or --key, 0.1557861376 s is right: the number is wrong
    mistakes.compute_line       the mistake "inputs do not overlap" gives 0.39793000448 s
    diagnosis.diagnose          this explains the number, contradicts no right number, and 5 digits
                                are enough: the mistake and the line form an Explanation
    diagnosis.list_causes       adds the Explanation to the Judgement's causes
    words.describe_judgement    "pipeline parallelism: inputs do not overlap, but the handout ..."
    command.run                 prints that: for one submission, in a class, or as CSV
"""
