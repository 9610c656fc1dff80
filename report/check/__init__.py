"""Which numbers of a submission are right, and which mistake explains the others.

How a row becomes a cause. For each file, command.run has judge.judge call the functions of reading,
judge and diagnosis, in this order; then it calls the functions of words:

    judge.read_key              by lab3.py or --key, Q2's pipeline latency is 0.1557861376 s
    reading.tokenize            "PP, 32 inputs: 397.93 ms" is words with roles, and a number
    reading.read_rows           they name pipeline and Q2, ms a latency: 0.39793 s with 5 digits
    reading.read_submission     of several numbers of this line, this one counts
    judge.make_cases            it is not right: it is in the Case of its strategy
    diagnosis.find_explanations "inputs do not overlap" makes 0.39793000448 s and contradicts no
                                right number: it is an Explanation (mistakes.compute_line computes)
    diagnosis.choose            no fewer mistakes explain more, and 5 digits are enough
    diagnosis.list_causes       it is a cause, whose only alternative is this Explanation
    words.describe_judgement    the report on one submission; describe_class, format_csv
"""
