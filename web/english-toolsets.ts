import type { ToolsetStrings } from './toolset-strings.ts'

export const englishToolsets: ToolsetStrings = {
  heading: 'How the agent plans',
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
  },
  unreviewed: 'Plan',
  approve: 'You approve the plan before anything runs.',
  deadline: span => `You have ${span} to decide; then nothing is started.`,
  startsAtOnce: 'The agent starts at once.',
  judged: 'A judge checks each result.',
  goesOn: 'The agent goes on until every step is settled.',
  space: ' ',
  review: 'Review',
  assessor: 'Judge',
  gate: 'Goes on',
  noReview: 'No review',
  noReviewWhy: ': the agent starts without asking you',
}
