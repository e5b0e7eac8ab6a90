import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { scratchFolder } from './scratch.ts'

/** Why a test cannot mount a file system here; undefined if it can. */
export const whyNoMounts: string | undefined = (() => {
  if (process.platform !== 'linux') return 'needs Linux (tmpfs)'
  if (process.getuid?.() !== 0) return 'needs root (mount)'
  try {
    const disk = smallDisk(1)
    disk.remove()
    return undefined
  } catch {
    return 'mounting is not allowed here'
  }
})()

export interface SmallDisk {
  readonly folder: string
  readonly remount: (options: string) => void
  readonly remove: () => void
}

/** A real file system of a few megabytes, which can be filled, enlarged and made read-only. */
export function smallDisk(megabytes: number): SmallDisk {
  const folder = scratchFolder()
  try {
    const { remount, unmount } = mountSmallDisk(folder, megabytes)
    const remove = (): void => {
      unmount()
      rmSync(folder, { recursive: true })
    }
    return { folder, remount, remove }
  } catch (error) {
    rmSync(folder, { recursive: true })
    throw error
  }
}

/** The same, on a folder that exists. */
export function mountSmallDisk(
  folder: string,
  megabytes: number,
): Pick<SmallDisk, 'remount'> & { readonly unmount: () => void } {
  const mount = (...args: string[]): void => void execFileSync('mount', args, { stdio: 'pipe' })
  mount('-t', 'tmpfs', '-o', `size=${megabytes}m`, 'runsheet-test', folder)
  return {
    remount: options => mount('-o', `remount,${options}`, folder),
    unmount: () => void execFileSync('umount', [folder], { stdio: 'pipe' }),
  }
}
