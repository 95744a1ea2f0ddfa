'use strict'

const LIMIT = 10;
let counter = 0;

/**
 * Adds two numbers.
 *
 * @param {number} a
 */
export function add(a, b) {
  const sum = a + b;
  return sum;
}

export const double = (x) => x * 2;

const helper = function named(y) {
  function nested() {
    return y;
  }
  return nested();
};

export default class Shape extends Base {
  static count = 0;
  #secret = 1;

  constructor(name) {
    super(name);
  }

  get area() {
    return 0;
  }

  async *items() {}

  handle = () => {
    this.area;
  };
}

app.handle = function handle(req, res) {
  res.end();
};

Shape.prototype.draw = function () {};

exports.parse = (text) => JSON.parse(text);

module.exports = {
  first(a) {
    return a;
  },
  second: function (b) {
    return b;
  },
  LIMIT,
};

var proto = {
  third: (c) => c,
  plain: 1,
};

(function () {
  function hidden() {}
})();

describe("shape", () => {
  function fixture() {}
});

function* gen() {}
