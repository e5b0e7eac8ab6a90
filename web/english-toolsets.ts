import type { ToolsetStrings } from './toolset-strings.ts'

export const englishToolsets: ToolsetStrings = {
  heading: 'How the agent plans',
  of: {
    runsheet: [
      'Reviewed plan',
      'You approve the plan before anything runs. A judge checks each result, and the agent goes on until every step is settled.',
    ],
    task_manager: [
      'Task manager',
      'You approve tasks with details, priorities and tags. You have two minutes to decide; then nothing is started.',
    ],
    manage_todos: ['To-do list', 'A short list for one request. The agent starts at once; a judge checks each result.'],
    turn_todos: [
      'Steps with outcomes',
      'Steps for one request, each closed with what came of it. The agent starts at once and goes on until all are closed.',
    ],
    checklist: ['Checklist', 'Items to tick off, kept over the whole conversation.'],
    task_list: ['Task list', 'Tasks that are added one by one, kept over the whole conversation.'],
  },
  review: 'Review',
  assessor: 'Judge',
  gate: 'Goes on',
  noReview: 'No review',
  noReviewWhy: ': the agent starts without asking you',
}
