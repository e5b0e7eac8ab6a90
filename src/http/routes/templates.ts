import * as z from 'zod'
import { invalidField } from '../../domain/refusal.ts'
import * as a from '../answer-schemas.ts'
import { notFound } from '../http-error.ts'
import { route } from '../route.ts'
import * as s from '../schemas.ts'

const named = z.object({ name: s.reference })

export const templateRoutes = [
  route({
    method: 'get',
    path: '/api/task-manager/templates',
    operationId: 'listTemplates',
    tag: 'Templates',
    role: 'agent',
    summary: 'All templates',
    answers: { 200: { description: 'Sorted by name', schema: a.templates } },
    handle: async ({ caller }, { door }) => ({ body: { templates: await door.templates.list(caller.tenant) } }),
  }),
  route({
    method: 'get',
    path: '/api/task-manager/templates/:name',
    operationId: 'getTemplate',
    tag: 'Templates',
    role: 'agent',
    summary: 'One template',
    params: named,
    answers: { 200: { description: 'The template', schema: s.template } },
    handle: async ({ params, caller }, { door }) => {
      const body = await door.templates.get(caller.tenant, params.name)
      if (body === undefined) throw unknown(params.name)
      return { body }
    },
  }),
  route({
    method: 'put',
    path: '/api/task-manager/templates/:name',
    operationId: 'saveTemplate',
    tag: 'Templates',
    role: 'person',
    summary: 'Saves a list of tasks as a template',
    params: named,
    body: s.templateBody,
    answers: { 200: { description: 'The template', schema: s.template } },
    handle: async ({ params, body, caller }, { door }) => {
      if (body.name !== undefined && body.name !== params.name) {
        throw invalidField('name', { rule: 'invalid', expected: 'the name in the path' })
      }
      return { body: await door.templates.save(caller.tenant, params.name, body.tasks) }
    },
  }),
  route({
    method: 'delete',
    path: '/api/task-manager/templates/:name',
    operationId: 'deleteTemplate',
    tag: 'Templates',
    role: 'person',
    summary: 'Deletes a template',
    params: named,
    answers: { 204: { description: 'Deleted' } },
    handle: async ({ params, caller }, { door }) => {
      if (!(await door.templates.delete(caller.tenant, params.name))) throw unknown(params.name)
      return { status: 204 }
    },
  }),
]

const unknown = (name: string): Error => notFound('template_not_found', `There is no template ${name}.`)
