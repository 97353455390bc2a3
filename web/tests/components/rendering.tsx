// Components in a page of their own, with the client and the toasts that every screen has around it.
import { Tooltip } from "@base-ui/react/tooltip";
import { QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render } from "@testing-library/react";
import { type UserEvent, userEvent } from "@testing-library/user-event";
import type { ReactNode } from "react";
import { afterEach, vi } from "vitest";
import { queryClient } from "../../src/api/queries";
import { Toasts } from "../../src/ui/Toasts";

// React warns of changes outside of `act` only where it is told that this is a test.
Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

afterEach(() => {
  cleanup();
  queryClient.clear();
  vi.unstubAllGlobals();
});

/** Shows a component; `again` shows it with other properties. */
export function show(children: ReactNode): { user: UserEvent; again: (children: ReactNode) => void } {
  const frame = (inside: ReactNode): ReactNode => (
    <QueryClientProvider client={queryClient}>
      <Tooltip.Provider>
        <Toasts>{inside}</Toasts>
      </Tooltip.Provider>
    </QueryClientProvider>
  );
  const { rerender } = render(frame(children));
  return { user: userEvent.setup(), again: (inside) => rerender(frame(inside)) };
}
