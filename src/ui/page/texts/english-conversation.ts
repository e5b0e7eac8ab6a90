import type { PageStrings } from './page-strings.ts'

const it = (count: number): string => (count === 1 ? 'it' : 'them')

const englishConversation = {
  queue: {
    title: 'Queue',
    waits: (count: number) => `Queued: the agent reads ${it(count)} before its next step`,
    waitsForReview: (count: number) => `Queued: the agent reads ${it(count)} after your decision`,
    held: (count: number) => `Not read: the turn ended first. Send ${it(count)} to go on.`,
    sendingNow: 'Stopping the agent to send what waits…',
    sending: 'Sending…',
    sendNow: 'Send now',
    sendNowHint: 'Stops what the agent does now, then starts with these messages',
    edit: 'Edit',
    /** Accessible name of the edit field. */
    editQueued: 'Edit the queued message',
    takeBack: 'Take back',
    save: 'Save',
    cancel: 'Cancel',
    readMeanwhile: 'The agent has read this message meanwhile.',
    sendAsNew: 'Send as a new message',
    discard: 'Discard the edit',
    elsewhere: (agent: string) =>
      `${agent} works here and cannot be written to. What you send goes to Runsheet’s own agent, and ${agent} waits until that is done. To steer it, change its plan.`,
    otherAgent: 'Another agent',
  },
  edit: 'Edit message',
  editMessage: 'Edit the message',
  /** The result of an edited message: a new turn, or another message to the running one. */
  editStarts: 'Sent as a new message. What was said and done before stays as it is.',
  editQueues: 'The agent gets it as a new message. What was said and done before stays as it is.',
  askAgain: 'Ask again',
  toLatest: 'Jump to latest',
  newBelow: 'New messages',
  code: 'code',
  copyCode: 'Copy code',
  tokens: (tokens: string) => `${tokens} tokens`,
  tokensInOut: (input: string, output: string) => `${input} in, ${output} out, as the provider counts`,
  otherAgentWorks:
    'Another agent is working in this conversation. You can follow and change its plan, or ask for something here.',
  otherAgentIdle:
    'Another agent uses this conversation. It sees your changes with its next call. You can also ask for something here.',
  demo: 'Demo model: it plans and writes, but acts only in a sandbox.',
  demoWithoutSandbox: 'Demo model: it plans and writes, but cannot act.',
  connectModel: 'Connect a real one',
  dismiss: 'Hide for now',
  openSettings: 'Open settings',
  toolServerDown: (server: string) => `The tool server “${server}” did not answer`,
  toolServerHint: 'Check that it runs. It is tried again with the next step; until then the agent works without it.',
  /** Keyed by the kind of error: title, and how to fix it. */
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
  } satisfies Record<string, readonly [title: string, hint: string]>,
  triedAt: (url: string) => `Tried: ${url}`,
}

export type ConversationStrings = typeof englishConversation
export type ProblemKind = keyof ConversationStrings['problems']

export const conversationStrings = (strings: PageStrings): ConversationStrings =>
  strings.conversation ?? englishConversation
