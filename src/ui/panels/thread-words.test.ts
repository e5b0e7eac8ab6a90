import { describe, expect, it } from 'vitest'
import type { PlanTally } from '../../core/views/tally.ts'
import type { TurnEnd } from '../../core/views/thread.ts'
import { chinese as chinesePanels } from './texts/chinese.ts'
import { durationText } from './parts/text.ts'
import { english as englishPanels } from './texts/english.ts'
import { subjectOf, toolWords } from './thread/tool-use.tsx'
import { tallyWords } from './plan/progress.ts'
import { endWords, failureText, failureWords } from './thread/lines.tsx'
import { withThread } from './texts/use-thread-strings.ts'

const english = withThread(englishPanels)
const chinese = withThread(chinesePanels)

const words = (tool: string, args: Parameters<typeof subjectOf>[0], isRunning = false): string => {
  const { verb, subject } = toolWords(tool, subjectOf(args), isRunning, english)
  return `${verb} ${subject}`.trim()
}

describe('a tool call in words', () => {
  it.each([
    ['read_file', { path: 'reports/2026-Q3.csv' }, 'Read 2026-Q3.csv'],
    ['mcp__search__readTextFile', { file: 'C:\\notes\\a.md' }, 'Read a.md'],
    ['Bash', { description: 'Run the tests', command: 'npm test' }, 'Ran npm test'],
    ['grep', { pattern: 'TODO/FIXME', path: '.' }, 'Searched for TODO/FIXME'],
    ['web_fetch', { url: 'https://example.org/a/b' }, 'Fetched https://example.org/a/b'],
    ['write_file', { content: 'long', path: 'a/b/' }, 'Wrote b'],
    ['compute', '12*7', 'Computed 12*7'],
    ['get_weather', { city: 'Berlin' }, 'Used get weather Berlin'],
    ['read_file', {}, 'Used read file'],
    ['ping', null, 'Used ping'],
    ['***', { n: 1 }, 'Used ***'],
    ['run', { command: `echo\n${'x'.repeat(9_000)}` }, 'Ran echo'],
  ])('%s with %j: %s', (tool, args, said) => {
    expect(words(tool, args)).toBe(said)
  })

  it('says what runs, and is never half a character', () => {
    expect(words('read_file', { path: 'a.csv' }, true)).toBe('Reading a.csv')
    expect(words('ping', {}, true)).toBe('Using ping')
    expect(words('run', { command: `a${'😀'.repeat(200)}` }).isWellFormed()).toBe(true)
  })
})

it('durations are seconds with one digit, whole seconds, or minutes', () => {
  expect([40, 700, 9_949, 12_400, 59_600, 125_000].map(ms => durationText(ms, english))).toEqual([
    '<0.1 s',
    '0.7 s',
    '9.9 s',
    '12 s',
    '0:59',
    '2:05',
  ])
})

const tally = (done: number, blocked: number, open: number, proven = 0, cancelled = 0): PlanTally => ({
  total: done + blocked + cancelled + open,
  done,
  blocked,
  disputed: 0,
  cancelled,
  open,
  standings: { proven, confirmed: 0, judged: 0, reported: done - proven },
})
const end = (status: TurnEnd['status'], because?: TurnEnd['because']): TurnEnd => ({
  at: '2026-11-02T09:00:00.000Z',
  status,
  ...(because ? { because } : {}),
  left: undefined,
})

describe('the end of a turn in words', () => {
  it.each([
    [tally(5, 0, 0, 3), "All 5 steps done · 3 proven, 2 on the agent's word"],
    [tally(3, 0, 0, 3), 'All 3 steps done · 3 proven'],
    [tally(3, 0, 0), 'All 3 steps done'],
    [tally(1, 0, 0), '1 step done'],
    [tally(3, 2, 0), '3 done, 2 blocked'],
    [tally(3, 1, 1, 1), "3 done, 1 blocked, 1 left · 1 proven, 2 on the agent's word"],
    [tally(0, 0, 2), '2 left'],
    [tally(2, 0, 0, 0, 1), '2 done, 1 cancelled'],
    [tally(1, 1, 1, 0, 1), '1 done, 1 blocked, 1 cancelled, 1 left'],
    [tally(0, 0, 0, 0, 3), '3 cancelled'],
  ])('a plan that stands like %j', (of, said) => {
    expect(tallyWords(of, english)).toBe(said)
  })

  it('says why it ended early, unless everything is done', () => {
    expect(endWords(end('incomplete', 'gate'), tally(1, 0, 1), english)).toEqual({
      result: '1 done, 1 left',
      reason: 'No progress after 3 attempts.',
    })
    expect(endWords(end('incomplete', 'gate'), tally(2, 0, 0), english).reason).toBe('')
    const cancelled = tally(2, 0, 0, 0, 1)
    expect(endWords(end('incomplete', 'gate'), cancelled, english).reason).toBe('No progress after 3 attempts.')
    expect(endWords(end('done', 'answered'), cancelled, english)).toEqual({ result: '2 done, 1 cancelled', reason: '' })
    expect(endWords(end('stopped', 'stopped'), tally(1, 0, 1), chinese).result).toBe('已停止 · 1 项完成、1 项未完成')
    expect(endWords(end('incomplete', 'rejected'), undefined, english).result).toBe('Not finished')
    expect(endWords(end('done', 'answered'), undefined, english)).toEqual({ result: '', reason: '' })
  })
})

it('a failure says what to do, in both languages; one that is not known is shown all the same', () => {
  expect(failureWords('provider_denied', english).hint).toContain('RUNSHEET_MODEL_KEY')
  expect(failureWords('provider_denied', chinese).hint).toContain('RUNSHEET_MODEL_KEY')
  for (const code of ['provider_denied', 'provider_unreachable', 'context_too_long', 'model_changed']) {
    for (const strings of [english, chinese]) expect(failureWords(code, strings).isSetting).toBe(true)
  }
  expect(failureWords('provider_busy', english).isSetting).toBe(false)
  expect(failureWords('constructor', english)).toEqual({
    title: 'Something went wrong',
    hint: '',
    isSetting: false,
  })
})

it('what a failure came to is told in the language of the page, with the URL and what the provider said', () => {
  const told = (code: string, message: string): string => failureText({ code, message }, chinese)
  const denied = "The model's provider refused (401) at http://127.0.0.1:9/v1/chat: Wrong key."
  expect(failureText({ code: 'provider_denied', message: denied }, english)).toBe(denied)
  expect(told('provider_denied', denied)).toBe('模型服务拒绝了请求（401），地址 http://127.0.0.1:9/v1/chat：Wrong key.')
  expect(told('provider_unreachable', 'The model could not be reached at http://[::1]:9/v1: fetch failed.')).toBe(
    '连接模型失败，地址 http://[::1]:9/v1：fetch failed.',
  )
  expect(told('provider_unreachable', 'The model could not be reached: connect ECONNREFUSED 127.0.0.1:9.')).toBe(
    '连接模型失败：connect ECONNREFUSED 127.0.0.1:9.',
  )
  expect(told('provider_busy', "The model's provider is busy (429): Slow down.")).toBe(
    '模型服务繁忙（429）：Slow down.',
  )
  const changed =
    'The settings have changed since this turn began: openai:a is not reached any more where it was then. Continue to go on with openai:b.'
  expect(told('model_changed', changed)).toBe(
    '本轮开始后设置已更改：openai:a 的地址与当时不同。现在的模型是 openai:b。',
  )
  expect(told('model_unknown', 'The model x is not configured.')).toBe('The model x is not configured.')
})
