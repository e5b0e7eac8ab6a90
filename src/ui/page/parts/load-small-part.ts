import { lazy, type LazyExoticComponent } from 'react'
import { loadPart } from './load-part.ts'

type SmallParts = typeof import('./small-parts.ts')

export const smallPart = <K extends keyof SmallParts>(name: K): LazyExoticComponent<SmallParts[K]> =>
  lazy(() => loadPart(() => import('./small-parts.ts')).then(parts => ({ default: parts[name] })))
