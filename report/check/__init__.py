"""Which numbers of a submission are right, and which mistake makes the others.

How a row becomes a cause, in the order in which one would read it:

    "TP latency ~ 3.03 ms"         what a student's program prints
    rows, number                   a strategy, a kind, and 0.00303 with three digits
    submission                     the number of the line Q1 tensor latency
    judge                          0.00312726 is right (or what --key says), so this is wrong
    mistakes                       a row: "communication takes no time", transfer = 0 * transfer
    diagnosis                      with that edit the formulas make 0.00303330816, which rounds to
                                   the number; nothing that is right is contradicted; digits enough
    judge                          a Judgement: the kind of each number, and Explanations
    words                          "tensor parallelism: communication takes no time"
    command                        one submission, a class, or CSV
"""
