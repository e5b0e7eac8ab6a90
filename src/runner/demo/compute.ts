/** The result of a step that is only a calculation: "12 * 7 = 84". */
export const compute = (title: string): string | undefined =>
  title.length > MAX_LENGTH ? undefined : arithmetic(title)

/** Longer requests are no calculations, and the regular expressions would be slow on them. */
const MAX_LENGTH = 400

const NUMBER = String.raw`-?\d+(?:\.\d+)?`
/** A label before the expression, such as "the budget for 20 people at 15 each:". */
const LABEL = String.raw`(?:the\s+)?(?:budget|costs?|total|sum|price)(?:\s+for\s+\d+\s+(?:people|guests))?(?:\s+at\s+\d+\s+each)?\s*[:：]`
const ASKED = new RegExp(
  String.raw`^(?:(?:compute|calculate|evaluate|work out|add|add up|multiply|subtract|divide|how much is|what is|what's)\s+(?:${LABEL})?|请?(?:按每人\s*\d+\s*元)?(?:计算|算出|算一下)\s*(?:\d+\s*人的)?(?:(?:预算|费用|总价)?[：:])?)\s*([-\d(][-+*/x×÷−().\d\s]*[\d)])\s*(?:等于多少|是多少)?\s*[=?？.。]*$`,
  'i',
)
/** Without a verb, a minus, slash or x needs spaces: it may be part of a date, a range or a size. */
const BARE = new RegExp(
  String.raw`^(${NUMBER}(?:(?:\s+[-+*/x×÷]\s+|\s*[+*×÷]\s*)${NUMBER})+)\s*(?:等于多少|是多少)?\s*[=?？]*$`,
)
function arithmetic(title: string): string | undefined {
  const [, expression] = ASKED.exec(title) ?? BARE.exec(title) ?? []
  if (expression === undefined || !/\d\s*\)*\s*[-+*/x×÷−]/.test(expression)) return undefined
  const value = valueOf(expression)
  return value === undefined ? undefined : `${spaced(expression)} = ${value}`
}

/** "12*7" as "12 * 7"; a sign stays with its number. */
const spaced = (expression: string): string =>
  expression
    .replaceAll(/(?<=[\d)])\s*([-+*/x×÷−])\s*/g, ' $1 ')
    .replaceAll(/\s+/g, ' ')
    .trim()

/** Larger results would be rounded. */
const MAX_VALUE = 1e12

/** The value of an expression of numbers, + - * / and brackets; undefined if it is none or reaches 10^12. */
function valueOf(expression: string): number | undefined {
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
