import { isChinese } from './lexicon.ts'

/** The demo model's phrases, except the texts written for steps. */
export type Phrases = typeof english

export const phrasesFor = (text: string): Phrases => (isChinese(text) ? chinese : english)

const english = {
  /** The fallback answer; the page shows the same notice once, above the conversation. */
  demo: 'I am the demo model. For real work, connect a model in Settings (or set RUNSHEET_MODEL).',
  hello: 'Hello! Tell me what you want done, and I will plan it.',
  noAnswer: 'I cannot answer that.',
  stepsSeen: (count: number, of: number) =>
    `I see ${count} steps${of > count ? ` (of ${of}; a plan holds at most ${count})` : ''} and propose them as a plan.`,
  planned: (count: number) => `I propose a plan of ${count} ${count === 1 ? 'step' : 'steps'}.`,
  youSaid: (comment: string) => `You said: “${comment}”.`,
  passedOn: 'I passed it on with the plan.',
  /** The step for a request that the demo model cannot merge into the others. */
  considered: (comment: string) => `Take into account: “${comment}”`,
  planFailed: (error: string) => `The plan could not be created: ${error}`,
  rejected: (reason: string): string =>
    ({
      review_timeout: 'The review timed out, so nothing was written.',
      panel_closed: 'The review was closed without a decision, so nothing was written.',
      superseded: 'Another plan took its place, so nothing was written.',
    })[reason] ?? 'You rejected the plan, so nothing was written.',
  instead: 'Tell me what you would like instead.',
  toolAnswered: (tool: string, answer: string) => `${tool} answered: ${answer}`,
  toolFailed: (tool: string, error: string) => `${tool} failed: ${error}`,
  notAccepted: (why: string) => `It was not accepted: ${why}`,
  done: (count: number, of: number) =>
    count === of ? 'Finished.' : `${count} of ${of} ${of === 1 ? 'step is' : 'steps are'} done.`,
  simulated: 'I have no tool for the rest, so I only simulated it.',
  leftOpen: (titles: readonly string[]) => `Left open for you: ${titles.join('; ')}.`,
  notDone: (title: string, why: string) => `Not done: ${title}${why === '' ? '' : ` (${why})`}.`,
}

const chinese: Phrases = {
  demo: '我是演示模型。要做真正的工作，请在设置中连接模型（或设置 RUNSHEET_MODEL）。',
  hello: '你好！告诉我你想做什么，我来制定计划。',
  noAnswer: '这个我回答不了。',
  stepsSeen: (count, of) =>
    `我看到 ${count} 个步骤${of > count ? `（共 ${of} 个，一个计划最多 ${count} 个）` : ''}，提议作为计划。`,
  planned: count => `我提议一个 ${count} 步的计划。`,
  youSaid: comment => `你说：“${comment}”。`,
  passedOn: '我已随计划转达。',
  considered: comment => `考虑到：“${comment}”`,
  planFailed: error => `无法创建计划：${error}`,
  rejected: reason =>
    ({
      review_timeout: '审阅已超时，没有写入任何内容。',
      panel_closed: '审阅未作决定就被关闭，没有写入任何内容。',
      superseded: '另一个计划取代了它，没有写入任何内容。',
    })[reason] ?? '你否决了计划，没有写入任何内容。',
  instead: '告诉我你想改成什么。',
  toolAnswered: (tool, answer) => `${tool} 的回答：${answer}`,
  toolFailed: (tool, error) => `${tool} 失败：${error}`,
  notAccepted: why => `未被接受：${why}`,
  done: (count, of) => (count === of ? '全部完成。' : `${of} 步中完成了 ${count} 步。`),
  simulated: '其余的我没有相应的工具，只是模拟了一下。',
  leftOpen: titles => `留给你的：${titles.join('；')}。`,
  notDone: (title, why) => `没有完成：${title}${why === '' ? '' : `（${why}）`}。`,
}
