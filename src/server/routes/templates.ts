import * as z from 'zod'
import { invalidField } from '../../core/model/refusal.ts'
import { HttpError, notFound } from '../http/replies.ts'
import { route, routes } from '../http/route.ts'
import * as s from '../http/schemas.ts'
import { shape } from '../http/openapi.ts'

const named = z.object({ name: s.reference })

export const templateRoutes = routes('Templates', {
  listTemplates: route('get', '/api/task-manager/templates', 'agent', {
    summary: 'All templates',
    answers: { 200: { description: 'Sorted by name', schema: shape('TemplatesAnswer') } },
    handle: async ({ caller }, { door }) => ({ body: { templates: await door.templates.list(caller.tenant) } }),
  }),
  getTemplate: route('get', '/api/task-manager/templates/:name', 'agent', {
    summary: 'One template',
    params: named,
    answers: { 200: { description: 'The template', schema: shape('Template') } },
    handle: async ({ params, caller }, { door }) => {
      const body = await door.templates.get(caller.tenant, params.name)
      if (body === undefined) throw unknown(params.name)
      return { body }
    },
  }),
  saveTemplate: route('put', '/api/task-manager/templates/:name', 'person', {
    summary: 'Saves a list of tasks as a template',
    params: named,
    body: s.templateBody,
    answers: { 200: { description: 'The template', schema: shape('Template') } },
    handle: async ({ params, body, caller }, { door }) => {
      if (body.name !== undefined && body.name !== params.name) {
        throw invalidField('name', { rule: 'invalid', expected: 'the name in the path' })
      }
      return { body: await door.templates.save(caller.tenant, params.name, body.tasks) }
    },
  }),
  renameTemplate: route('post', '/api/task-manager/templates/:name/rename', 'person', {
    summary: 'Gives a template another name',
    params: named,
    body: s.templateName,
    answers: {
      200: { description: 'The template', schema: shape('Template') },
      409: { description: '`template_exists`: another one has that name' },
    },
    handle: async ({ params, body, caller }, { door }) => {
      const renamed = await door.templates.rename(caller.tenant, params.name, body.name)
      if (renamed === 'unknown') throw unknown(params.name)
      if (renamed === 'taken') throw new HttpError(409, 'template_exists', `There is a template ${body.name} already.`)
      return { body: renamed }
    },
  }),
  deleteTemplate: route('delete', '/api/task-manager/templates/:name', 'person', {
    summary: 'Deletes a template',
    params: named,
    answers: { 204: { description: 'Deleted' } },
    handle: async ({ params, caller }, { door }) => {
      if (!(await door.templates.delete(caller.tenant, params.name))) throw unknown(params.name)
      return { status: 204 }
    },
  }),
})

const unknown = (name: string): Error => notFound('template_not_found', `There is no template ${name}.`)
