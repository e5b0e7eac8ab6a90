import { english, type Strings } from 'runsheet/react'

const panels: Strings = english

/** The texts of the page besides those of its parts that are loaded on demand. */
export const englishPage = {
  panels,
  conversations: 'Conversations',
  messages: 'Messages',
  newChat: 'New chat',
  untitled: 'New conversation',
  search: 'Search',
  groups: {
    pinned: 'Pinned',
    today: 'Today',
    yesterday: 'Yesterday',
    week: 'Previous 7 days',
    month: 'Previous 30 days',
  },
  noConversations: 'No conversations yet',
  archived: 'Archived',
  restore: 'Restore',
  message: 'What do you want done?',
  /** The message box while a review waits. */
  requestChanges: 'Tell the agent what to change…',
  enterRequestsChanges: 'Enter requests changes',
  /** The message box while a rejection can be undone. */
  sayWhy: 'Tell the agent why (optional)…',
  enterRejects: 'Enter rejects now',
  /** Of a text that was begun before the review that waits. */
  writtenBefore: 'Written before the plan arrived',
  enterAgain: 'Not sent: you wrote this before the plan arrived. Press Enter again to send it with your decision.',
  /** The message box while the agent works: what is sent waits for its next step. */
  steer: 'Write to the agent while it works…',
  enterQueues: 'Enter adds it to the queue',
  send: 'Send',
  stop: 'Stop',
  stopping: 'Stopping…',
  copy: 'Copy',
  copied: 'Copied',
  retry: 'Retry',
  /** What is said to the agent when blocked steps are tried again. */
  retryBlockedMessage: 'Try the blocked steps again.',
  you: 'You',
  assistant: 'Agent',
  toolset: 'Toolset',
  model: 'Model',
  menu: 'Conversations and search',
  close: 'Close',
  theme: 'Light or dark',
  planBeside: 'Plan beside the conversation',
  language: '中文',
  reconnecting: 'Connection lost. Reconnecting…',
  loading: 'Loading…',
  skip: 'Skip to the message box',
  signInTitle: 'You are not signed in',
  signInHow: 'To get a new link, run this in the folder of the server, then open the link in this browser:',
  badLink: 'This link has expired or was already used.',
  signedOut: 'You have been signed out.',
  /** Title and hint of the first screen. `list`: an unreviewed toolset that keeps items for a person. */
  empty: {
    reviewed: [
      'Approve the plan, then watch it get done',
      'Say what you want. You get a plan to edit before anything runs, and see what came of each step.',
    ],
    unreviewed: [
      'Say what you want, then watch it get done',
      'The agent plans and starts at once, and you see what came of each step.',
    ],
    list: [
      'Say what to put on the list',
      'The agent adds it at once. You tick items off; the agent may tick what it did itself.',
    ],
  } satisfies Record<string, readonly [title: string, hint: string]>,
  /** For the built-in model. */
  demoExample: 'Fix the greeting in the sandbox, and prove it',
  examples: ['Plan a birthday party for 20 people', 'Prepare for my job interview', 'Plan a weekend in Rome'],
  working: 'Working…',
  waitingForYou: 'Waiting for your review',
  history: 'History',
  backToChat: 'Back to the conversation',
  noHistory: 'Nothing has happened here yet.',
  turn: (number: number) => `Turn ${number}`,
  byOtherAgent: 'By another agent',
  noTasks: 'No tasks',
  continuedIn: (turn: number) => `continued in turn ${turn}`,
  fromTurn: (turn: number) => `from turn ${turn}`,
  allEvents: 'Full activity log',
  showRest: (characters: number) => `Show the rest (${Math.round(characters / 1_000)} kB)`,
  taskHistory: (title: string) => `History of “${title}”`,
  showMore: 'Show more',
  turnStatus: {
    open: 'Open',
    running: 'Working',
    done: 'Done',
    incomplete: 'Not finished',
    failed: 'Failed',
    stopped: 'Stopped',
  },
  openOf: (open: number, steps: number) => `${open} of ${steps} open`,
  continueMessage: 'Continue with the plan.',
}
