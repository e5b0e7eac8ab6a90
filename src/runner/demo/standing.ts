export interface Standing {
  /** The current step first. */
  readonly open: readonly Step[]
  readonly settled: readonly (Step & { readonly isDone: boolean; readonly outcome: string })[]
  /** Whether the current step has details or criteria besides its title. */
  readonly hasDetails: boolean
}
export interface Step {
  readonly id: string
  readonly title: string
}

/** Reads from the last line backwards, because the request, which comes first, may look like a digest itself. */
export function standingIn(system: string): Standing | undefined {
  const lines = system.split('\n')
  let at = lines.findLastIndex(line => /^\d+ (?:remaining|open)\.$/.test(line))
  if (at < 0) return undefined
  const sections = new Map<string, string[]>()
  for (const name of ['Open:', 'Next:', 'Now:', 'Settled:']) {
    const end = at
    while (/^(?:- | {2})/.test(lines[at - 1] ?? '')) at -= 1
    if (lines[at - 1] === name) {
      sections.set(name, lines.slice(at, end))
      at -= 1
    } else at = end
  }
  const of = (name: string): string[] => sections.get(name) ?? []
  return {
    open: [...of('Now:'), ...of('Next:'), ...of('Open:')].flatMap(stepIn),
    settled: of('Settled:').flatMap(settledIn),
    hasDetails: of('Now:').some(line => line.startsWith('  ')),
  }
}

function stepIn(line: string): Step[] {
  const [, id, title] = /^- (?!and \d+ more$)(\S+) (.+)$/.exec(line) ?? []
  return id === undefined || title === undefined ? [] : [{ id, title }]
}

/** The toolsets' words for completed come first. */
const SETTLED = /^(.+?) \((?:(completed|done|ticked)|blocked|cancelled|removed|unticked|not done)(?:: (.*))?\)$/

function settledIn(line: string): Standing['settled'] {
  return stepIn(line).flatMap(({ id, title: rest }) => {
    const [, title, done, outcome = ''] = SETTLED.exec(rest) ?? []
    return title === undefined ? [] : [{ id, title, isDone: done !== undefined, outcome }]
  })
}
