import { Button, type ButtonProps } from '@mantine/core'
import { createLink } from '@tanstack/react-router'
import type { ComponentProps } from 'react'

/** A button that leads to another view. */
export const ButtonLink = createLink((props: ButtonProps & Omit<ComponentProps<'a'>, keyof ButtonProps>) => (
  <Button component="a" size="xs" {...props} />
))
