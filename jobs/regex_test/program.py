"""The JavaScript program that V8 runs. Patterns and texts are its arguments, and never part of its source."""

PROGRAM = """
(() => {
  "use strict";
  let found = [];

  // AdvanceStringIndex of the specification.
  const advance = (input, index, unicode) =>
    index + (unicode && index < input.length && input.codePointAt(index) > 0xffff ? 2 : 1);

  // Every match with the flag g, else the first. Keeps `limit` of them for report(), or as many as it may write.
  const match = (pattern, flags, input, limit, budget) => {
    found = [];
    let keep = Number(limit);
    let groups = budget / 3; // the least that one is written with: ,""
    let expression;
    try {
      expression = new RegExp(pattern, flags);
    } catch (error) {
      return JSON.stringify({ count: 0, syntax: error.message.slice(error.message.lastIndexOf(": ") + 2) });
    }
    const { global, unicode } = expression;
    let count = 0;
    try {
      for (let result; (result = expression.exec(input)) !== null; ) {
        count += 1;
        if (count <= keep) {
          found.push(result);
          groups -= result.length;
          if (groups <= 0) keep = count;
        }
        if (!global) break;
        if (result[0] === "") expression.lastIndex = advance(input, expression.lastIndex, unicode);
        if (count === keep && expression.hasIndices) {
          // The rest is only counted, which is many times faster without the flag d.
          const { lastIndex } = expression;
          expression = new RegExp(pattern, flags.replace("d", ""));
          expression.lastIndex = lastIndex;
        }
      }
    } catch (error) {
      // The stack of places to go back to is full, or the compiled pattern would be too large.
      found = [];
      return JSON.stringify({ count: 0, exhausted: true });
    }
    return JSON.stringify({ count });
  };

  const text = (value) => (value === undefined ? null : value.toWellFormed());
  const place = (value) => (value === undefined ? null : value);
  const each = (groups, change) =>
    groups && Object.fromEntries(Object.entries(groups).map(([name, value]) => [name, change(value)]));

  const record = (result) => ({
    match: text(result[0]),
    index: result.index,
    length: result[0].length,
    groups: result.slice(1).map(text),
    namedGroups: each(result.groups, text) ?? null,
    indices: result.indices?.map(place) ?? null,
    namedIndices: each(result.indices?.groups, place) ?? null,
  });

  // What match() kept, one line of JSON each, as far as `budget` characters go.
  const report = (budget) => {
    const lines = [];
    let left = Number(budget);
    for (const result of found) {
      // Groups are parts of the input and cost nothing before they are written: their lengths come first.
      const size = result.reduce((sum, group) => sum + (group === undefined ? 4 : group.length), 0);
      if (size > left) break;
      const line = JSON.stringify(record(result));
      left -= line.length;
      if (left < 0) break;
      lines.push(line);
    }
    found = [];
    return lines.join("\\n");
  };

  return { match, report };
})()
"""
