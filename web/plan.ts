/** The plan, which is not needed before there is one. */
export { TodosPanel as default } from 'runsheet/react'
