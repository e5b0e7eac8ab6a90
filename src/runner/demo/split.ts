import { cut } from '../../domain/text.ts'
import { isClause, isDeed, isRemark } from './deeds.ts'
import { isChinese } from './lexicon.ts'

const MAX_TITLE = 200
const POLITE =
  /^(?:(?:please|kindly|(?:can|could|would|will) you|i want you to|i need you to|i'd like you to|help me to|help me|let's|let us|first(?:ly)?|second(?:ly)?|third(?:ly)?|then|and|also|finally|next|afterwards|after that|lastly)[\s,:]+|请你?|帮我|首先|其次|然后|接着|最后|先|再|[，：\s]+)+/i
const CONNECTIVES =
  /\s*[,;，；]?\s*\b(?:and then|then|after that|afterwards|and finally|finally|lastly)\b[\s,]+|[,，；。]?\s*(?:然后|接着|最后)\s*/i
const BULLET = /^\s*(?:[-*•–]|\d{1,2}[.)、])\s*(?:\[[ xX]?\]\s*)?(\S.*)$/
const INLINE_NUMBER = /(?:^|\s)\(?\d{1,2}[.)、](?=\s|\p{Script=Han})\s*/u
const SENTENCE_END = /(?<=[.!?])(?<!\b(?:e\.g|i\.e|etc|vs|Dr|Mr|Mrs|Ms|Prof|St|No)\.)\s+|[;；。！？]\s*/i
const SMALL_TALK = /^(?:hi|hello|hey|thanks?|thank you|good (?:morning|evening|day)|cheers|你好|谢谢)(?:\b|$|[，。！])/i

/** Not a step, because the answer does this anyway. */
const TELLING = /^(?:tell me|let me know|告诉我)[.!。！]?$/i

/** The steps of a request: the items of a list, or its sentences, split at words such as "then". */
export function stepsIn(request: string): string[] {
  const isRequest = /^\s*(?:please|(?:can|could|would|will) you)\b/i.test(request)
  const steps = parts(request).map(part => tidy(part, isRequest))
  const actions = steps.filter(step => step.length > 1 && !SMALL_TALK.test(step) && !TELLING.test(step))
  // Questions are answered, not planned.
  return actions.every(isQuestion) ? actions.slice(0, 1) : [...new Set(actions)]
}

/** Whether a request of one step is a goal to plan for, and not a question, a remark or a request for words. */
export function isGoal(request: string): boolean {
  const [step = ''] = stepsIn(request)
  // A Chinese question mark ends a sentence and is not part of its step.
  const isAsking = isQuestion(step) || (isChinese(request) && isQuestion(request))
  if (isAsking || isSmallTalk(step) || TALK.test(step) || QUOTED_WORDS.test(step)) return false
  return step.split(/\s+/).length >= 2 || /\p{Script=Han}{4,}/u.test(request)
}

const TALK =
  /^(?:tell|explain|say|show|define|answer|continue|go on|carry on|proceed|retry|try again|ok|okay|yes|no|stop|wait|继续|告诉|解释|说|好的|不用)(?:\b|$|\p{Script=Han})/iu

/** A few words to translate are no goal. */
const QUOTED_WORDS = /^(?:translate\b|翻译).*["“”「]/i

export const isQuestion = (text: string): boolean => /[?？]\s*$/.test(text)
export const isSmallTalk = (text: string): boolean => SMALL_TALK.test(text.trim())

function parts(request: string): string[] {
  const lines = request.split(/\r?\n/).filter(line => line.trim() !== '')
  const items = lines.flatMap(line => BULLET.exec(line)?.[1] ?? [])
  if (items.length >= 2) return items
  const numbered = request.split(INLINE_NUMBER)
  if (numbered.length >= 3) return numbered.slice(1)
  // One step per line, perhaps under a heading.
  const plain = lines.filter(line => !/[:：]\s*$/.test(line))
  if (plain.length >= 3 && plain.every(line => line.length <= 80)) return plain
  return sentences(request)
}

function sentences(request: string): string[] {
  const all = request.replaceAll(/\s+/g, ' ').split(SENTENCE_END)
  const asking = all.filter(sentence => isQuestion(sentence) || !isRemark(sentence.replace(POLITE, '')))
  return (asking.some(sentence => sentence.trim() !== '' && !isSmallTalk(sentence)) ? asking : all)
    .flatMap(sentence => (/^\s*(?:if|when|since)\b/i.test(sentence) ? [sentence] : sentence.split(CONNECTIVES)))
    .flatMap(series)
}

/** "Do this: read a, write b and send c" is three steps; "bread and butter" is one, as is "plan a party, in June". */
function series(sentence: string): string[] {
  if (/\b(?:between|both|either)\b/i.test(sentence)) return [sentence]
  const [, rest = sentence] = /^[^:：]{3,80}[:：]\s*(\S.*)$/.exec(sentence) ?? []
  // Every other piece is a separator.
  const pieces = rest.split(/(\s*[,，、]\s*(?:and\s+)?|\s+and\s+(?=\w+\s+\w+))/i)
  const several = pieces.filter((_, place) => place % 2 === 0)
  const steps = several.some(isStep) ? joined(pieces) : several.some(isVague) ? [] : several
  return steps.length >= 2 ? steps : [sentence]
}

const isStep = (part: string): boolean => hasWords(part, 2) && isDeed(part.replace(POLITE, ''))
const isVague = (part: string): boolean => !hasWords(part, 3) || isClause(part.replace(POLITE, ''))

/** Whether there are at least two words, or this many Chinese characters. */
const hasWords = (part: string, characters: number): boolean =>
  part.trim().split(/\s+/).length >= 2 || new RegExp(`\\p{Script=Han}{${characters},}`, 'u').test(part)

/** Joins each action with its descriptions. */
function joined(pieces: readonly string[]): string[] {
  const steps: string[] = []
  let [open = ''] = pieces
  let isOpen = isStep(open)
  for (let place = 2; place < pieces.length; place += 2) {
    const part = pieces[place] ?? ''
    if (isOpen && isStep(part)) {
      steps.push(open)
      open = part
    } else {
      open += (pieces[place - 1] ?? '') + part
      isOpen ||= isStep(part)
    }
  }
  return [...steps, open]
}

function tidy(part: string, isRequest: boolean): string {
  const bare = part
    .trim()
    .replace(POLITE, '')
    .replace(/[,，]\s*(?:please|thanks|thank you|谢谢|拜托)[.!。！]*$/i, '')
    .replace(isRequest ? /[.!?,;，；。]+$/ : /[.!,;，；。]+$/, '')
    .trim()
  return cut(bare.charAt(0).toUpperCase() + bare.slice(1), MAX_TITLE)
}
