"""Which numbers of a submission are right, and which mistake explains the others.

How a row becomes a cause, module by module:

    rows, number   "PP, 32 inputs: 397.93 ms" has strategy, question and a latency of 5 digits
    submission     it is the line Q2 pipeline latency: of several such rows, the one that counts
    judge          0.1557861376 s is right, or what --key says; so the number is wrong
    mistakes       a row of the table is "inputs do not overlap", and how: latency = N * one_input
    diagnosis      with that edit the formulas make 0.39793000448 s, which rounds to the number; it
                   contradicts no right one, and 5 digits are enough for one mistake
    judge          the Judgement has an Explanation: the mistake, and the lines that it makes
    words          "pipeline parallelism: inputs do not overlap", and what the handout says
    command        prints that: for one submission, in a class, or as CSV
"""
