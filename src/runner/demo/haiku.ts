/** A haiku that names its topic; undefined if the topic is too long for the first line. */
export function haikuOn(topic: string): string | undefined {
  const bare = topic === '' ? 'autumn' : topic
  const known = HAIKU[bare.toLowerCase().replace(/^the /, '')]
  if (known) return known.join('\n')
  // "My cat Tom, again": the topic and as many syllables as are left of five.
  const filler = [undefined, ', as evening comes', ', seen once more', ', again', ', still', ''][syllablesIn(bare)]
  if (filler === undefined) return undefined
  return [`${capitalised(bare)}${filler}.`, 'A slow light moves on the wall.', 'Nothing to be said.'].join('\n')
}

export function chineseHaikuOn(topic: string): string | undefined {
  const bare = topic === '' ? '秋天' : topic
  const known = CHINESE_HAIKU[bare]
  if (known) return known.join('\n')
  const start = [undefined, '静静看着', '我看着', '看着', '看', ''][Array.from(bare).length]
  return start === undefined ? undefined : [`${start}${bare}`, '一阵清风过小桥', '清晨慢慢来'].join('\n')
}

const HAIKU: Readonly<Record<string, readonly string[]>> = {
  autumn: ['Autumn leaves the oak,', 'a slow gold on the dark pond.', 'Then the ripples rest.'],
  rain: ['Rain on the tin roof,', 'the cat counts every drop twice.', 'Morning takes its time.'],
  snow: ['Snow hides the old path.', 'One lamp at the far window', 'keeps the road for us.'],
}
const CHINESE_HAIKU: Readonly<Record<string, readonly string[]>> = {
  秋天: ['秋天落叶飞', '一片金黄落池塘', '水静月又圆'],
  雨: ['夜雨敲屋檐', '猫儿数着每一滴', '清晨慢慢来'],
}

/** By groups of vowels; a silent e at the end does not count. */
function syllablesIn(text: string): number {
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? []
  const count = (word: string): number =>
    Math.max(1, (word.replace(/(?<=[^aeiouyl])e$/, '').match(/[aeiouy]+/g) ?? []).length)
  return words.reduce((sum, word) => sum + count(word), 0)
}

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
