import { BEYOND, FILE_CHEATS, SCOPE_CHEATS } from './cheats.ts'
import { HONEST, LAZY, SCOPE_SCENES } from './honest.ts'
import { PLAN_CHEATS } from './plan-cheats.ts'
import { Scene, type Setup } from './scene.ts'
import { greets, PROJECT, type Worker } from './worker.ts'

export const WORKERS: readonly Worker[] = [...HONEST, ...LAZY, ...FILE_CHEATS, ...PLAN_CHEATS, ...BEYOND]
/** Includes the workers that compare the rules on changes. */
export const ALL_WORKERS: readonly Worker[] = [...WORKERS, ...SCOPE_SCENES, ...SCOPE_CHEATS]

export interface Trial {
  readonly worker: Worker
  readonly setup: Setup
  /** The standing of its task, else its status. */
  readonly end: string
  readonly reasons: readonly string[]
  readonly isDone: boolean
}

export async function tried(worker: Worker, setup: Setup): Promise<Trial> {
  const { files, rows, work, before, task, isDone = greets, ...options } = worker
  const scene = await Scene.open({ ...options, ...setup, files: { ...PROJECT, ...files } })
  try {
    await before?.(scene)
    await scene.plan(...rows)
    await work(scene)
    return { worker, setup, ...(await scene.end(task)), isDone: await isDone(scene) }
  } finally {
    await scene.close()
  }
}
