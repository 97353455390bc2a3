// Starts the interface: signs in with the link's token if there is one, then shows the screens.
import { CSPProvider } from "@base-ui/react/csp-provider";
import { Tooltip } from "@base-ui/react/tooltip";
import { QueryClientProvider } from "@tanstack/react-query";
import { type ReactNode, StrictMode } from "react";
import { createRoot } from "react-dom/client";
import "@fontsource-variable/inter";
import "./styles/layers.css";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/ui.css";
import "./styles/data.css";
import "./shell/shell.css";
import "./workspace/workspace.css";
import "./chat/chat.css";
import "./upload/upload.css";
import "./metadata/metadata.css";
import "./filters/filters.css";
import "./viewer/viewer.css";
import { queryClient } from "./api/queries";
import { takeTokenFromAddress } from "./api/session";
import { applyLanguage, languageInUse } from "./lib/language";
import { useStore } from "./lib/store";
import { applyTheme } from "./lib/theme";
import { App } from "./shell/App";
import { Toasts } from "./ui/Toasts";

applyTheme();
const token = takeTokenFromAddress();

/** Drawn anew in another language: nothing of the former one is left anywhere. */
function Speaking(): ReactNode {
  return <App key={useStore(languageInUse)} token={token} />;
}

// Without the words of a language there are those of another.
await applyLanguage().catch(() => undefined);
const root = document.getElementById("root");
if (!root) throw new Error("index.html has no #root");
createRoot(root).render(
  <StrictMode>
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queryClient}>
        <Tooltip.Provider delay={400}>
          <Toasts>
            <Speaking />
          </Toasts>
        </Tooltip.Provider>
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
);
