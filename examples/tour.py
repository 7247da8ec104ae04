# %% [markdown]
# <!-- SPDX-License-Identifier: MIT -->
# # A tour of hermes-repl
#
# This file is plain Python: `python3 tour.py` runs it too. The `# %%` lines cut it into cells, and
# hermes-repl runs them one by one in one session that stays alive:
#
#     hermes-repl --batch tour.py               # live output, the exit code of a script
#     hermes-repl --batch tour.py --json        # one result for each cell
#     hermes-repl --batch tour.py --cells 2-3   # some of them
#     hermes-repl --batch tour.py --save tour.ipynb

# %% State stays
from collections import Counter

text = "the quick brown fox jumps over the lazy dog, and the dog does not mind"
words = Counter(text.replace(",", "").split())
print("most common:", words.most_common(2))

# %% ... from cell to cell
words.update(["fox"] * 3)
print("and now:    ", words.most_common(2))

# %% [markdown]
# ## Errors keep what was done
#
# An error ends its cell, not the session: everything bound before it is still there. (Here it is
# caught, so that the tour goes on; without the `try` a batch stops with the traceback, or goes on
# with the next cell if told `--on-error continue`.)

# %% An error, seen from inside
import traceback

squares = []


def inverse_squares(numbers):
    for n in numbers:
        squares.append(1 / n**2)


try:
    inverse_squares([1, 2, 0, 4])
except ZeroDivisionError as error:
    place = traceback.extract_tb(error.__traceback__)[-1]
    print("line {}, in {}: {} -> {}".format(place.lineno, place.name, place.line, error))
print("done before it:", squares)

# %% [markdown]
# ## Real processes, real streams
#
# Cells write to real file descriptors, so output of child processes arrives in its place, live.

# %% A subprocess among prints
import os
import subprocess
import sys

print("before the child")
subprocess.run([sys.executable, "-c", "print('  the child speaks')"], check=True)
os.write(1, b"  bytes straight to descriptor 1\n")
print("after the child")

# %% Bars and colours go through as they are
import time

for step in range(1, 21):
    print("\r  working [{:<20}] {:3d} %".format("#" * step, step * 5), end="", flush=True)
    time.sleep(0.005)
print("\n  \033[32mdone\033[0m")

# %% [markdown]
# ## `__main__` is the real one
#
# What a cell defines can be pickled, inspected and sent to worker processes, as in a script.

# %% Pickle what a cell defined
import pickle
from dataclasses import dataclass


@dataclass
class Planet:
    name: str
    radius_km: float

    def volume(self):
        return 4 / 3 * 3.14159 * self.radius_km**3


earth = pickle.loads(pickle.dumps(Planet("Earth", 6371.0)))
print(earth, "has {:.2e} km3".format(earth.volume()))

# %% Look at its source
import inspect
import textwrap

print(textwrap.dedent(inspect.getsource(Planet.volume)), end="")

# %% Put it to work in other processes
import multiprocessing

if __name__ == "__main__":
    planets = [Planet("Mars", 3389.5), Planet("Venus", 6051.8), earth]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        volumes = pool.map(Planet.volume, planets)
    for planet, volume in zip(planets, volumes):
        print("{:<6} {:.2e} km3".format(planet.name, volume))

# %% The end
print("That was the tour. All of it is still here:", len(words), "words and the", earth.name)
