"use strict";
/* Evaluates the trees of symlayout.language.expression_tree, exactly: a number is a fraction [numerator, denominator] of
   BigInts in lowest terms, a condition is a boolean, and null stands for what has no value there. */
const Expressions = (() => {
  const abs = (a) => (a < 0n ? -a : a);
  const gcd = (a, b) => { while (b) [a, b] = [b, a % b]; return abs(a); };
  const fraction = (n, d) => {
    if (d === 0n) return null;
    const g = gcd(n, d) * (d < 0n ? -1n : 1n);
    return [n / g, d / g];
  };
  const whole = (n) => [BigInt(n), 1n];
  const add = (a, b) => fraction(a[0] * b[1] + b[0] * a[1], a[1] * b[1]);
  const times = (a, b) => fraction(a[0] * b[0], a[1] * b[1]);
  const over = (a, b) => fraction(a[0] * b[1], a[1] * b[0]);
  const compare = (a, b) => { const d = a[0] * b[1] - b[0] * a[1]; return d < 0n ? -1 : d > 0n ? 1 : 0; };
  const floor = (a) => { const q = a[0] / a[1]; return [a[0] < 0n && q * a[1] !== a[0] ? q - 1n : q, 1n]; };
  const minus = (a) => [-a[0], a[1]];
  const MOST_POWER = 4096n;

  const power = (a, b) => {
    if (b[1] !== 1n || abs(b[0]) > MOST_POWER) return null;
    const p = [a[0] ** abs(b[0]), a[1] ** abs(b[0])];
    return b[0] < 0n ? fraction(p[1], p[0]) : p;
  };
  const remainder = (a, b) => {
    const q = over(a, b);
    return q && add(a, minus(times(b, floor(q))));
  };
  const RELATIONS = {
    "==": (c) => c === 0, "!=": (c) => c !== 0, ">=": (c) => c >= 0, "<=": (c) => c <= 0, ">": (c) => c > 0, "<": (c) => c < 0,
  };
  const NUMBERS = {
    "+": (...p) => p.reduce(add), "*": (...p) => p.reduce(times), "/": over, "**": power, "%": remainder, floor,
    ceiling: (a) => minus(floor(minus(a))),
    min: (...p) => p.reduce((a, b) => (compare(a, b) <= 0 ? a : b)),
    max: (...p) => p.reduce((a, b) => (compare(a, b) >= 0 ? a : b)),
    table: (...p) => { const at = p.pop(); return at[1] === 1n && at[0] >= 0n && at[0] < BigInt(p.length) ? p[Number(at[0])] : null; },
  };

  function evaluate(tree, dims) {
    if (typeof tree === "number") return whole(tree);
    if (typeof tree === "string") return dims.has(tree) ? whole(dims.get(tree)) : null;
    if (tree === null) return null;
    const [operation, ...operands] = tree;
    if (operation === "int") return whole(operands[0]);
    if (operation === "cases") {
      for (const [, value, condition] of operands) {
        const holds = evaluate(condition, dims);
        if (holds === null) return null;
        if (holds) return evaluate(value, dims);
      }
      return null;
    }
    const values = operands.map((operand) => evaluate(operand, dims));
    if (operation === "and" || operation === "or") {
      const decisive = operation === "or";
      return values.includes(decisive) ? decisive : values.includes(null) ? null : !decisive;
    }
    if (values.includes(null)) return null;
    if (operation === "not") return !values[0];
    if (operation in RELATIONS) return RELATIONS[operation](compare(values[0], values[1]));
    return values.every(Array.isArray) ? NUMBERS[operation](...values) : null;
  }

  const text = (value) => (value === null ? "?" : value[1] === 1n ? String(value[0]) : `${value[0]}/${value[1]}`);
  return { evaluate, text };
})();
