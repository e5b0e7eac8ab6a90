import type { CallStrings } from './call-strings.ts'

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

export const englishCalls: CallStrings = {
  reviews: 'Reviews',
  settings: 'Settings',
  waiting: count => (count === '1' ? '1 plan waits for your review' : `${count} plans wait for your review`),
  decisions: count => (count === '1' ? '1 decision waits for you' : `${count} decisions wait for you`),
  offer: 'Get a notification when the agent waits for you?',
  notifyMe: 'Notify me',
  notNow: 'Not now',
  denied: 'Your browser blocks notifications from this page. Settings say how to allow them.',
  planWaits: 'A plan waits for your review',
  planFrom: (conversation, steps) => `${conversation} · ${plural(steps, 'step')}`,
  wantsTool: (tool, server) => `The agent wants to use ${tool}${server === undefined ? '' : ` of ${server}`}`,
  plansWait: count => `${count} plans wait for your review`,
  openAll: 'Open to see them all.',
  title: 'Waiting for your review',
  steps: count => plural(count, 'step'),
  moreSteps: count => `+${count} more`,
  byModel: model => `Runsheet with ${model}`,
  sinceNow: 'asked just now',
  since: ago => `asked ${ago}`,
  deadline: left => `${left} left`,
  more: 'More are waiting. They show up here as you decide these.',
  none: 'Nothing waits for you',
  noneHint: 'When an agent proposes a plan, in this page or over MCP, or asks to use a tool, you find it here.',
  setUpNotifications: 'Notifications',
}
