"""Stands for Spark: what it keeps for a group of a stateful processor."""

from __future__ import annotations


class Kept:
    """What Spark keeps for one group of keys: variables by name, and timers."""

    def __init__(self):
        self.variables = {}
        self.timers = set()
        self.watermark = 0

    def getValueState(self, name, schema):  # noqa: N802 - Spark's interface
        assert schema.names == ["state"]
        return Variable(self.variables, name)

    def getMapState(self, name, key, value):  # noqa: N802
        assert (key.names, value.names) == (["number"], ["state"])
        return Variables(self.variables, name)

    def listTimers(self):  # noqa: N802
        return iter(sorted(self.timers))

    def registerTimer(self, time):  # noqa: N802
        self.timers.add(time)

    def deleteTimer(self, time):  # noqa: N802
        self.timers.remove(time)

    def getCurrentWatermarkInMs(self):  # noqa: N802
        return self.watermark


class Variable:
    def __init__(self, variables, name):
        self.variables, self.name = variables, name

    def get(self):
        return self.variables.get(self.name)

    def update(self, value):
        self.variables[self.name] = value


class Variables:
    def __init__(self, variables, name):
        self.variables, self.name = variables, name

    def getValue(self, key):  # noqa: N802
        return self.variables.get((self.name, *key))

    def updateValue(self, key, value):  # noqa: N802
        self.variables[(self.name, *key)] = value

    def removeKey(self, key):  # noqa: N802
        del self.variables[(self.name, *key)]
