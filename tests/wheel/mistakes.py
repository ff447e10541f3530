"""A program with mistakes that a type checker is to find, each in a line that says so."""

import penstock

penstock.Engine("//book")  # mistake
print(penstock.nothing)  # mistake
penstock.Registry().add("a", None)  # mistake
penstock.Registry().add("a", "//a", mode="all")  # mistake
penstock.evaluate("//a", "<a/>", selct={})  # mistake
for row in penstock.Engine(penstock.Registry()).run("<a/>"):
    print(row.valeu)  # mistake
