import reckon

with reckon.count("task-clock,page-faults") as c:
    squares = [i * i for i in range(1_000_000)]

print(c.counts)
