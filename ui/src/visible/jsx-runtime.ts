/**
 * What JSX is compiled to. Everything that the app shows comes through here, so that text from agents, hooks and people
 * reads as it runs, in every view, without a view having to remember it.
 */
import * as react from 'react/jsx-runtime'
import { visibleProps } from './visible-props.ts'

export { Fragment, type JSX } from 'react/jsx-runtime'

export const jsx: typeof react.jsx = (type, props, key) => react.jsx(type, visibleProps(props), key)

export const jsxs: typeof react.jsxs = (type, props, key) => react.jsxs(type, visibleProps(props), key)
