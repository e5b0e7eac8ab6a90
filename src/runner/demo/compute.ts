import { valueOf } from './arithmetic.ts'
import { ACTIONS } from './lexicon.ts'

/** The result of a step that is a computation and nothing else: arithmetic, or a ranking of what the step names. */
export const compute = (title: string): string | undefined =>
  title.length > MAX_LENGTH ? undefined : (arithmetic(title) ?? ranking(title))

/** Longer requests are no computations, and their regular expressions would take long. */
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
const LISTED = new RegExp(
  String.raw`^(?:add|add up|sum|sum up|compute the sum of|calculate the sum of)\s+(${NUMBER}(?:\s*(?:,\s*and\b|,|\band\b)\s*${NUMBER})+)$`,
  'i',
)

function arithmetic(title: string): string | undefined {
  const [, listed] = LISTED.exec(title) ?? []
  const [, asked] = ASKED.exec(title) ?? BARE.exec(title) ?? []
  const expression = listed === undefined ? asked : (listed.match(new RegExp(NUMBER, 'g')) ?? []).join(' + ')
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

/** "Compare Ann 120, Bob 95 and Cem 140": the named numbers, in order. */
function ranking(title: string): string | undefined {
  const [, list] = /^(?:compare|rank|sort|比较|排序)\s*[:：]?\s*(.+?)[.。]?$/i.exec(title) ?? []
  const items = list?.split(/\s*[,，、]\s*(?:and\s+)?|\s+and\s+|和/i) ?? []
  const named = items.flatMap(untrimmed => {
    const item = untrimmed.trim()
    const [, name = '', value] = /^((?:\p{L}+\s*){0,2}?)\s*[:：]?\s*(\d+(?:\.\d+)?)$/u.exec(item) ?? []
    const isName = name.split(/\s+/).every(word => !ACTIONS.has(word.toLowerCase()))
    return value === undefined || !isName ? [] : [{ name: name.trim(), value: Number(value) }]
  })
  if (named.length < 2 || named.length < items.length) return undefined
  return named
    .toSorted((a, b) => a.value - b.value)
    .map(({ name, value }, place) => `${place + 1}. ${name === '' ? '' : `${name}: `}${value}`)
    .join('\n')
}
