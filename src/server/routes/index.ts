import type { Route } from '../http/route.ts'
import { checkRoutes } from './checks.ts'
import { evidenceRoutes } from './evidence.ts'
import { filingRoutes } from './filing.ts'
import { loginRoutes } from './login.ts'
import { chatRoutes, messageRoutes } from './messages.ts'
import { probeRoutes } from './probes.ts'
import { reviewRoutes } from './reviews.ts'
import { searchRoutes } from './search.ts'
import { settingsRoutes } from './settings.ts'
import { toolRoutes } from './tools.ts'
import { sessionRoutes } from './sessions.ts'
import { taskRoutes } from './tasks.ts'
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
