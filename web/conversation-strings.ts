import type { PageStrings } from './page-strings.ts'

/** The texts of a conversation's parts that are loaded after the first sight of the page. */
export interface ConversationStrings {
  /** Messages that wait for the agent at work. */
  readonly queue: {
    readonly title: string
    readonly waits: (messages: number) => string
    readonly waitsForReview: (messages: number) => string
    readonly held: (messages: number) => string
    readonly sendingNow: string
    readonly sending: string
    readonly sendNow: string
    readonly sendNowHint: string
    readonly edit: string
    /** The name of the box in which that is done. */
    readonly editQueued: string
    readonly takeBack: string
    readonly save: string
    readonly cancel: string
    /** The agent read a message while it was being edited. */
    readonly readMeanwhile: string
    readonly sendAsNew: string
    readonly discard: string
    readonly elsewhere: (agent: string) => string
    readonly otherAgent: string
  }
  readonly edit: string
  readonly editMessage: string
  /** What comes of an edited message: a new turn, or one more message for the agent at work. */
  readonly editStarts: string
  readonly editQueues: string
  readonly askAgain: string
  readonly toLatest: string
  readonly newBelow: string
  readonly code: string
  readonly copyCode: string
  readonly tokens: (tokens: string) => string
  readonly tokensInOut: (input: string, output: string) => string
  readonly otherAgentWorks: string
  /** No agent works at this moment. */
  readonly otherAgentIdle: string
  readonly demo: string
  readonly demoWithoutSandbox: string
  readonly connectModel: string
  readonly dismiss: string
  readonly openSettings: string
  readonly toolServerDown: (server: string) => string
  readonly toolServerHint: string
  /** Errors by what they are about, each with what to do. */
  readonly problems: Readonly<Record<ProblemKind, readonly [title: string, hint: string]>>
  readonly triedAt: (url: string) => string
}

export type ProblemKind = 'unreachable' | 'storage' | 'busy' | 'model' | 'other'

/** In the language of the page; other languages than English come with their file. */
export const conversationStrings = (strings: PageStrings): ConversationStrings => strings.conversation ?? ENGLISH

const it = (count: number): string => (count === 1 ? 'it' : 'them')

const ENGLISH: ConversationStrings = {
  queue: {
    title: 'Queue',
    waits: count => `Queued: the agent reads ${it(count)} before its next step`,
    waitsForReview: count => `Queued: the agent reads ${it(count)} after your decision`,
    held: count => `Not read: the turn ended first. Send ${it(count)} to go on.`,
    sendingNow: 'Stopping the agent to send what waits…',
    sending: 'Sending…',
    sendNow: 'Send now',
    sendNowHint: 'Stops what the agent does now, then starts with these messages',
    edit: 'Edit',
    editQueued: 'Edit the queued message',
    takeBack: 'Take back',
    save: 'Save',
    cancel: 'Cancel',
    readMeanwhile: 'The agent has read this message meanwhile.',
    sendAsNew: 'Send as a new message',
    discard: 'Discard the edit',
    elsewhere: agent =>
      `${agent} works here and cannot be written to. What you send goes to Runsheet’s own agent, and ${agent} waits until that is done. To steer it, change its plan.`,
    otherAgent: 'Another agent',
  },
  edit: 'Edit message',
  editMessage: 'Edit the message',
  editStarts: 'Sent as a new message. What was said and done before stays as it is.',
  editQueues: 'The agent gets it as a new message. What was said and done before stays as it is.',
  askAgain: 'Ask again',
  toLatest: 'Jump to latest',
  newBelow: 'New messages',
  code: 'code',
  copyCode: 'Copy code',
  tokens: tokens => `${tokens} tokens`,
  tokensInOut: (input, output) => `${input} in, ${output} out, as the provider counts`,
  otherAgentWorks:
    'Another agent is working in this conversation. You can follow and change its plan, or ask for something here.',
  otherAgentIdle:
    'Another agent uses this conversation. It sees your changes with its next call. You can also ask for something here.',
  demo: 'Demo model: it plans and writes, but acts only in a sandbox.',
  demoWithoutSandbox: 'Demo model: it plans and writes, but cannot act.',
  connectModel: 'Connect a real one',
  dismiss: 'Hide for now',
  openSettings: 'Open settings',
  toolServerDown: server => `The tool server “${server}” did not answer`,
  toolServerHint: 'Check that it runs. It is tried again with the next step; until then the agent works without it.',
  problems: {
    unreachable: [
      'The server cannot be reached',
      'Check that Runsheet is running there, then retry. Nothing you wrote is lost.',
    ],
    storage: [
      'The server could not save this',
      'Look at its disk and data folder, then retry. Nothing you wrote is lost.',
    ],
    busy: ['Too much at once', 'Wait a moment, then retry.'],
    model: ['There is no model to ask', 'Choose one in the settings, or set RUNSHEET_MODEL, then retry.'],
    other: ['That did not work', ''],
  },
  triedAt: url => `Tried: ${url}`,
}
