const MOST_STEPS = 12
const POLITE =
  /^(?:(?:please|kindly|can you|could you|would you|i want you to|i need you to|help me to|help me|let's|first(?:ly)?|then|and|also|finally|next|afterwards|after that|lastly|请|首先|先|然后|接着|最后|再)[\s,:，]+|(?:请|首先|然后|接着|最后))+/i
const CONNECTIVES =
  /\s*[,;，；]?\s*\b(?:and then|then|after that|afterwards|and finally|finally|lastly)\b[\s,]+|[,，；。]?\s*(?:然后|接着|最后)\s*/i
const BULLET = /^\s*(?:[-*•–]|\d{1,2}[.)、])\s*(\S.*)$/

/** What a request asks for, step by step: a list's items, or its sentences and what "then" divides. */
export function stepsIn(request: string): string[] {
  const items = request.split(/\r?\n/).flatMap(line => BULLET.exec(line)?.[1] ?? [])
  const parts = items.length >= 2 ? items : sentences(request)
  const steps = parts.map(tidy).filter(step => step.length > 1)
  return [...new Set(steps)].slice(0, MOST_STEPS)
}

function sentences(request: string): string[] {
  return request
    .replaceAll(/\s+/g, ' ')
    .split(/(?<=[.!?])\s+|[;；。！？]\s*/)
    .flatMap(sentence => sentence.split(CONNECTIVES))
    .flatMap(series)
}

/** "a, b and c" is three things to do; "bread and butter" is one. */
function series(sentence: string): string[] {
  const parts = sentence.split(/\s*[,，、]\s*(?:and\s+)?|\s+and\s+(?=\w+\s+\w+)/i)
  const areDeeds = parts.every(part => part.trim().split(/\s+/).length >= 2 || /[\u4e00-\u9fff]{3,}/.test(part))
  return parts.length >= 2 && areDeeds ? parts : [sentence]
}

function tidy(part: string): string {
  const bare = part
    .trim()
    .replace(POLITE, '')
    .replace(/[.!,;，；。]+$/, '')
    .trim()
  return bare.charAt(0).toUpperCase() + bare.slice(1, 200)
}
