import type { Policy } from 'runsheet/client'

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

export const englishCalls = {
  reviews: 'Reviews',
  settings: 'Settings',
  waiting: (count: string) => (count === '1' ? '1 plan waits for your review' : `${count} plans wait for your review`),
  /** Used if tool calls or disputes wait as well. */
  decisions: (count: string) => (count === '1' ? '1 decision waits for you' : `${count} decisions wait for you`),
  offer: 'Get a notification when the agent waits for you?',
  notifyMe: 'Notify me',
  notNow: 'Not now',
  denied: 'Your browser blocks notifications from this page. Settings say how to allow them.',
  planWaits: 'A plan waits for your review',
  planFrom: (conversation: string, steps: number) => `${conversation} · ${plural(steps, 'step')}`,
  /** A tool call's notification and row. */
  wantsTool: (tool: string, server: string | undefined) =>
    `The agent wants to use ${tool}${server === undefined ? '' : ` of ${server}`}`,
  /** A dispute's notification and row. */
  disputes: (task: string) => `The agent disputes: ${task}`,
  plansWait: (count: number) => `${count} plans wait for your review`,
  openAll: 'Open to see them all.',
  title: 'Waiting for your review',
  steps: (count: number) => plural(count, 'step'),
  moreSteps: (count: number) => `+${count} more`,
  byModel: (model: string) => `Runsheet with ${model}`,
  sinceNow: 'asked just now',
  since: (ago: string) => `asked ${ago}`,
  deadline: (left: string) => `${left} left`,
  more: 'More are waiting. They show up here as you decide these.',
  none: 'Nothing waits for you',
  noneHint:
    'When an agent proposes a plan, in this page or over MCP, asks to use a tool or disputes a task, you find it here.',
  setUpNotifications: 'Notifications',
}

export const englishToolsets = {
  heading: 'How the agent plans',
  /** Button name and description, independent of the policy. */
  of: {
    runsheet: ['Reviewed plan', 'A plan, with what came of each step.'],
    task_manager: ['Task manager', 'Tasks with details, priorities and tags.'],
    manage_todos: ['To-do list', 'A short list for one request.'],
    turn_todos: ['Steps with outcomes', 'Steps for one request, each closed with what came of it.'],
    checklist: ['Checklist', 'Items to tick off, kept over the whole conversation.'],
    task_list: [
      'Task list',
      'Tasks that are added one by one, kept over the whole conversation. With --store file each list is a JSON file, .agents/tasks/<id>.json in the data folder; other stores write none.',
    ],
  } satisfies Record<string, readonly [name: string, about: string]>,
  /** Names `runsheet` without review. */
  unreviewed: 'Plan',
  approve: 'You approve the plan before anything runs.',
  deadline: (span: string) => `You have ${span} to decide; then nothing is started.`,
  startsAtOnce: 'The agent starts at once.',
  judged: 'A judge checks each result.',
  goesOn: 'The agent goes on until every step is settled.',
  /** Separates two sentences; empty in Chinese. */
  space: ' ',
  review: 'Review',
  assessor: 'Judge',
  gate: 'Goes on',
  noReview: 'No review',
  /** Appended to `noReview` if there is room. */
  noReviewWhy: ': the agent starts without asking you',
}

export type CallStrings = typeof englishCalls
export type ToolsetStrings = typeof englishToolsets

export const toolsetName = ({ toolset, review }: Pick<Policy, 'toolset' | 'review'>, words: ToolsetStrings): string =>
  toolset === 'runsheet' && !review ? words.unreviewed : (words.of[toolset][0] ?? toolset)
