import type { Route } from '../http/route.ts'
import { checkRoutes, evidenceRoutes, taskRoutes } from './tasks.ts'
import { filingRoutes } from './filing.ts'
import { loginRoutes, probeRoutes, settingsRoutes } from './probes.ts'
import { chatRoutes, messageRoutes } from './messages.ts'
import { reviewRoutes } from './reviews.ts'
import { searchRoutes } from './search.ts'
import { toolRoutes } from './tools.ts'
import { sessionRoutes } from './sessions.ts'
import { templateRoutes } from './templates.ts'
import { toolsetRoutes } from './toolsets.ts'

/** In the order of the docs. */
export const ROUTES: readonly Route[] = [
  ...chatRoutes,
  ...sessionRoutes,
  ...messageRoutes,
  ...filingRoutes,
  ...taskRoutes,
  ...checkRoutes,
  ...evidenceRoutes,
  ...searchRoutes,
  ...reviewRoutes,
  ...templateRoutes,
  ...toolsetRoutes,
  ...settingsRoutes,
  ...toolRoutes,
  ...loginRoutes,
  ...probeRoutes,
]
