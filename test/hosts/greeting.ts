import { join } from 'node:path'
import { expect } from 'vitest'
import { type Work, worker } from './agent.ts'
import { isDone } from './opened.ts'
import type { Plan } from './person.ts'
import type { HostScene } from './scene.ts'

/** A small project whose check fails until the agent has written a file. */
export const GREETING = {
  prompt: 'Write a greeting for Ann.',
  tasks: [
    { title: 'Write greeting.mjs', check: 'node check.mjs', scope: ['greeting.mjs'] },
    { title: 'Mention it in the README' },
  ],
} as const

export const FILES = {
  'check.mjs': "import { greeting } from './greeting.mjs'\nif (greeting('Ann') !== 'Hello, Ann!') process.exit(1)\n",
  'greeting.mjs': 'export const greeting = name => `Hello, ${name}!`\n',
}

/** Puts the check into the project, and scripts an agent that claims once before the work is done, and may stop early. */
export function scriptGreeting(
  { driver, project, model, write }: HostScene,
  more: Pick<Work, 'stopsAfter'> = {},
): void {
  write('check.mjs', FILES['check.mjs'])
  const done = driver.write(join(project, 'greeting.mjs'), FILES['greeting.mjs'])
  const before = (title: string, attempt: number) => (title.startsWith('Write') && attempt === 1 ? [done] : [])
  model.script = worker({ tasks: GREETING.tasks, before, ...more })
}

/** The check was red, the claim was refused, and then the task was proven. */
export async function isProven(scene: HostScene): Promise<Plan> {
  const plan = await isDone(scene, ['1 Write greeting.mjs', '2 Mention it in the README'])
  const { events, tasks } = plan
  expect(tasks.map(({ standing }) => standing)).toEqual(['proven', 'reported'])
  const runs = events.flatMap(({ type, data }) => (type === 'check_ran' ? [[data.why, data.result]] : []))
  expect(runs.slice(0, 3)).toEqual([
    ['baseline', 'failed'],
    ['claim', 'failed'],
    ['claim', 'passed'],
  ])
  return plan
}
