import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { packAndInstall } from '../support/packed.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder of the packed and installed `runsheet`. */
    readonly runsheet: string
  }
}

/** Packs the build, and installs it with npm, for all hosts. */
export default async function setup(project: TestProject): Promise<() => void> {
  const packed = await packAndInstall()
  project.provide('runsheet', join(packed.folder, 'node_modules', '.bin'))
  return () => packed.remove()
}
