import { lazy, type LazyExoticComponent } from 'react'
import { loadPart } from './load-part.ts'

type Later = typeof import('./later.ts')
type Component = Exclude<keyof Later, 'download'>

export const importLater = () => loadPart(() => import('./later.ts'))

/** A component that loads right after the first render, together with the others of `later.ts`. */
export const part = <K extends Component>(name: K): LazyExoticComponent<Later[K]> =>
  lazy(() => importLater().then(parts => ({ default: parts[name] })))
