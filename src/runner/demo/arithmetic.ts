/** Larger results would be rounded. */
const MAX_VALUE = 1e12

/** The value of an expression of numbers, + - * / and brackets; undefined if it is none, or has none below 10^12. */
export function valueOf(expression: string): number | undefined {
  const signs = expression.replaceAll(/[x×]/gi, '*').replaceAll('÷', '/').replaceAll('−', '-')
  const tokens = signs.match(/\d+(?:\.\d+)?|[-+*/()]|\S/g) ?? []
  let at = 0

  const take = (...wanted: readonly string[]): string | undefined =>
    wanted.includes(tokens[at] ?? '') ? tokens[at++] : undefined

  function sum(): number {
    let value = product()
    for (let sign = take('+', '-'); sign !== undefined; sign = take('+', '-')) {
      const right = product()
      value = sign === '+' ? value + right : value - right
    }
    return value
  }
  function product(): number {
    let value = factor()
    for (let sign = take('*', '/'); sign !== undefined; sign = take('*', '/')) {
      const right = factor()
      value = sign === '*' ? value * right : value / right
    }
    return value
  }
  function factor(): number {
    if (take('-') !== undefined) return -factor()
    if (take('(') !== undefined) {
      const value = sum()
      return take(')') === undefined ? Number.NaN : value
    }
    const token = tokens[at++] ?? ''
    return /^\d/.test(token) ? Number(token) : Number.NaN
  }

  const value = sum()
  return at === tokens.length && Math.abs(value) < MAX_VALUE ? Number(value.toPrecision(12)) : undefined
}
