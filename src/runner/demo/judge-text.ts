import { ACTIONS, CHINESE_ACTION, CHINESE_FACT, FACTS, FUNCTION_WORDS, unquoted } from './lexicon.ts'
import { isChinese } from './language.ts'

/** What is wrong with a text that a task asked for; empty if nothing is. */
export function flawInText(task: string, said: string): string {
  const flaw = isChinese(task) ? chineseFlawIn(task) : englishFlawIn(task)
  if (flaw !== '') return flaw
  const kind = kindOf(task)
  if (!kind?.isIn(said)) return 'the text itself is not there.'
  if (kind.isIn === hasItems && !SUBJECT.test(task)) return 'the title does not say what the list is for.'
  const text = said.toLowerCase()
  const missed = subjectsOf(task).find(word => !text.includes(word))
  return missed === undefined ? '' : `the text says nothing about “${missed}”.`
}

const SUBJECT = /\b(?:for|about|template)\b|\p{Script=Han}{4,}(?:清单|计划|草案|标准|问题|大纲|提纲|模板)|“/iu

interface Kind {
  /** In a title. */
  readonly of: RegExp
  /** Whether an outcome is such a text, and not a sentence that says that there is one. */
  readonly isIn: (said: string) => boolean
}

const linesOf = (said: string): string[] => said.split('\n').filter(line => line.trim() !== '')
const hasItems = (said: string): boolean => linesOf(said).filter(line => /^(?:- |\d+\. |\| )/.test(line)).length >= 3

/** Of several that a title names, the text asked for comes first in English and last in Chinese. */
function kindOf(task: string): Kind | undefined {
  const places = KINDS.flatMap(kind =>
    [...unquoted(task).matchAll(new RegExp(kind.of, 'gi'))].map(({ index }) => ({ kind, index })),
  ).toSorted((a, b) => a.index - b.index)
  return places.at(isChinese(task) ? -1 : 0)?.kind
}

const KINDS: readonly Kind[] = [
  { of: /\btitle\b|标题/i, isIn: said => /[“《].+[”》]/.test(said) },
  {
    of: /\b(?:e-?mail|letter|message|note|announcement)\b|邮件|信|消息|通知|公告/i,
    isIn: said => /^(?:Subject|Announcement|主题|公告)[:：]/.test(said) && linesOf(said).length >= 3,
  },
  { of: /\binvitations?\b|邀请函|请柬/i, isIn: said => /\binvit|邀请/i.test(said) && !/^(?:I|我|已)\b/.test(said) },
  { of: /\bhaiku\b|俳句/i, isIn: said => linesOf(said).length === 3 },
  { of: /\bpoem\b|诗/i, isIn: said => linesOf(said).length >= 3 },
  {
    of: /\b(?:list|checklist|schedule|agenda|timetable|itinerary|plan|budget|criteria|questions|outline)\b|清单|名单模板|日程|议程|时间表|行程|计划|预算|标准|问题|大纲|提纲/i,
    isIn: hasItems,
  },
]

const VERBS = /^(?:write|draft|compose|prepare|make|create)$/
/** Words of a title that are not what its text is about. */
const FORM_WORDS = new Set(
  'a an the me us my our your some of in for at to on about short brief friendly polite formal simple general rough first quick little final invitation invitations e-mail email letter message note announcement haiku poem title guest list template checklist shopping packing schedule agenda timetable itinerary study plan budget criteria questions outline'.split(
    ' ',
  ),
)

function wordsOf(task: string): string[] {
  return task.toLowerCase().match(/[\p{L}\p{N}'’-]+/gu) ?? []
}

const FACTLESS = 'the text needs facts that were not looked up.'

function englishFlawIn(task: string): string {
  const [verb = '', ...rest] = wordsOf(unquoted(task))
  if (!VERBS.test(verb)) return 'no tool has done this.'
  if (/[^\p{L}\p{N}\s'’.-]/u.test(unquoted(task))) return 'the title asks for more than one thing.'
  if (rest.some(word => FUNCTION_WORDS.has(word) || (ACTIONS.has(word) && !FORM_WORDS.has(word))))
    return 'the title asks for more than a text.'
  if (verb !== 'draft' && /\b(?:budget|itinerary|schedule|agenda|timetable|criteria)\b/i.test(unquoted(task)))
    return FACTLESS
  const isVerse = /\b(?:haiku|poem|title)\b/i.test(task)
  return !isVerse && rest.some(word => FACTS.has(word)) ? FACTLESS : ''
}

function chineseFlawIn(task: string): string {
  const bare = unquoted(task).replace('宾客名单模板', '')
  if (!/^(?:请|帮我)?(?:写|起草|草拟|撰写|拟定|制定|列)/.test(bare)) return 'no tool has done this.'
  if (/[，；、。：]/.test(bare) || CHINESE_ACTION.test(bare)) return 'the title asks for more than a text.'
  if (/(?:预算|行程|日程|议程|时间表)$/.test(bare)) return FACTLESS
  return !/俳句|诗|标题/.test(bare) && CHINESE_FACT.test(bare) ? FACTLESS : ''
}

/** What the text has to mention: all words of the title that do not say which text it is. */
function subjectsOf(task: string): string[] {
  if (!isChinese(task)) return wordsOf(task).filter(word => !VERBS.test(word) && !FORM_WORDS.has(word))
  const [, quoted] = /“(.+)”/.exec(task) ?? []
  if (quoted !== undefined) return [quoted.toLowerCase()]
  return task
    .toLowerCase()
    .replace(/^(?:请|帮我)?(?:写出|写|起草|草拟|撰写|拟定|制定|列出|列)(?:一下)?(?:[一这两三]?[份封首篇个张则条])?/, '')
    .split(
      /邀请函|请柬|邮件|信$|消息|通知|公告|俳句|小?诗$|标题|宾客名单模板|检查清单|购物清单|行李清单|日程|议程|时间表|行程|学习计划|预算|草案|模板|标准|问题|大纲|提纲|关于|[的给致]/,
    )
    .filter(part => part !== '')
}
