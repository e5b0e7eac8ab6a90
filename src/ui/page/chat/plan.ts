/** Lazy: not needed before there is a plan. */
export { TodosPanel as default } from 'runsheet/react'
