"""Which numbers of a submission are right, and which mistake explains the others.

How a row becomes a cause. command.run calls judge.judge for each file, which calls the functions of
reading, judge and diagnosis; then it calls one of words for the report:

    reading.tokenize            "PP, 32 inputs: 397.93 ms" is words with roles, and a number
    reading.read_rows           they name pipeline, Q2 and a latency of 0.39793 s with 5 digits
    reading.read_submission     of several numbers of this line, this one counts
    judge.read_key              by lab3.py or --key, 0.1557861376 s is right
    judge.make_cases            so the number is wrong: it is in the Case of its strategy
    diagnosis.diagnose          "inputs do not overlap" makes 0.39793000448 s, contradicts no right
                                number, and 5 digits are enough: the mistake and the line are an
                                Explanation (mistakes.compute_line computes)
    diagnosis.list_causes       with its alternatives, of which there are none, it is a cause
    words.list_alternatives     "pipeline parallelism: inputs do not overlap, but the handout ..."
    words.describe_judgement    a bullet of the report on one submission; describe_class, format_csv
"""
