/** The result of a step that asks for one that can be computed: a sum, a count, a changed text, a ranking. */
export function compute(title: string): string | undefined {
  const sum = arithmetic(title)
  if (sum !== undefined) return sum
  const [, words] = /\bcount\b.*\bwords\b.*?["“'‘](.+)["”'’]/i.exec(title) ?? []
  if (words !== undefined) return `${words.trim().split(/\s+/).length} words.`
  const [, letters] = /\bcount\b.*\b(?:letters|characters)\b.*?["“'‘](.+)["”'’]/i.exec(title) ?? []
  if (letters !== undefined) return `${Array.from(letters).length} characters.`
  const [, how, text] = /\b(reverse|uppercase|lowercase)\b.*?["“'‘](.+)["”'’]/i.exec(title) ?? []
  if (how !== undefined && text !== undefined) return changed(how.toLowerCase(), text)
  return ranking(title)
}

function arithmetic(title: string): string | undefined {
  // Without spaces, a minus, slash or x may be part of a date, a range or a size.
  const [, left, sign, right] =
    /(?<![\w.])(-?\d+(?:\.\d+)?)(\s+[-+*/x×÷]\s+|\s*[+*×÷]\s*)(-?\d+(?:\.\d+)?)(?![\w])/.exec(title) ?? []
  if (left === undefined || sign === undefined || right === undefined) return undefined
  const [a, b] = [Number(left), Number(right)]
  const result = { '+': a + b, '-': a - b, '*': a * b, x: a * b, '×': a * b, '/': a / b, '÷': a / b }[sign.trim()]
  if (result === undefined || !Number.isFinite(result)) return undefined
  return `${left} ${sign.trim()} ${right} = ${Number(result.toPrecision(12))}`
}

function changed(how: string, text: string): string {
  if (how === 'reverse') return Array.from(text).toReversed().join('')
  return how === 'uppercase' ? text.toUpperCase() : text.toLowerCase()
}

/** "Compare A 120, B 95 and C 140": the named numbers, in order. */
function ranking(title: string): string | undefined {
  const [, list = ''] = /^(?:compare|rank|sort|比较|排序)\s*[:：]?\s*(.+)$/i.exec(title) ?? []
  const named = [...list.matchAll(/([^\s,，、:：][^,，、:：\d]*?)\s*[:：]?\s*(\d+(?:\.\d+)?)/g)].map(
    ([, name = '', value]) => ({
      name: name.replace(/^(?:and|和)\s*/i, ''),
      value: Number(value),
    }),
  )
  if (named.length < 2) return undefined
  return named
    .toSorted((a, b) => a.value - b.value)
    .map(({ name, value }, place) => `${place + 1}. ${name}: ${value}`)
    .join('\n')
}
