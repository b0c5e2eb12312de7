// The calls of the check in Go, with the client that oapi-codegen makes (package openpo).
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"openpo.example/check/openpo"
)

const (
	exact    = 1234.5678
	quantity = 2
)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func check(holds bool, what string, found any) {
	if !holds {
		panic(fmt.Sprintf("%s: %+v", what, found))
	}
}

func pointer[T any](value T) *T { return &value }

func main() {
	ctx := context.Background()
	authorized := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("OPENPO_API_KEY"))
		return nil
	}
	client, err := openpo.NewClientWithResponses(os.Getenv("OPENPO_URL"), openpo.WithRequestEditorFn(authorized))
	must(err)

	listed, err := client.PurchaseOrderListWithResponse(ctx, &openpo.PurchaseOrderListParams{
		Status:   &[]openpo.PurchaseOrderStatus{openpo.PurchaseOrderStatusDraft, openpo.PurchaseOrderStatusPartiallyReceived},
		DateFrom: pointer("2020-01-01"),
	})
	must(err)
	check(listed.JSON200 != nil && listed.JSON200.Data.TotalCount == 2, "list", listed.Status())

	created, err := client.PurchaseOrderCreateWithResponse(ctx, nil, openpo.PurchaseOrderCreateJSONRequestBody{
		SupplierId: pointer("mill"),
		LocationId: pointer("warehouse"),
		LineItems: &[]openpo.CatalogueLineInput{
			{VariantId: "red", QuantityOrdered: quantity, UnitCost: pointer(exact)},
		},
	})
	must(err)
	check(created.JSON201 != nil, "create", string(created.Body))
	order := created.JSON201.Data.PurchaseOrder
	check(order.LineItems[0].UnitCost == exact, "exact money", order.LineItems[0].UnitCost)

	sent, err := client.PurchaseOrderStatusWithResponse(ctx, order.PurchaseOrderId, nil,
		openpo.PurchaseOrderStatusJSONRequestBody{Status: openpo.PurchaseOrderStatusSent})
	must(err)
	check(sent.JSON200 != nil && sent.JSON200.Data.Transition.To == openpo.PurchaseOrderStatusSent, "send", string(sent.Body))

	var all openpo.PurchaseOrderConfirmJSONRequestBody
	must(all.FromConfirmAll(openpo.ConfirmAll{ConfirmAll: true}))
	confirmed, err := client.PurchaseOrderConfirmWithResponse(ctx, order.PurchaseOrderId, nil, all)
	must(err)
	check(confirmed.JSON200 != nil && confirmed.JSON200.Data.PurchaseOrder.Status == openpo.PurchaseOrderStatusInProgress,
		"confirm all", string(confirmed.Body))

	var none openpo.PurchaseOrderConfirmJSONRequestBody
	must(none.FromConfirmAll(openpo.ConfirmAll{ConfirmAll: false}))
	refused, err := client.PurchaseOrderConfirmWithResponse(ctx, order.PurchaseOrderId, nil, none)
	must(err)
	check(refused.JSON400 != nil && refused.JSON400.Error.Code == openpo.INVALIDINPUT, "refusal", string(refused.Body))
	detail, err := (*refused.JSON400.Error.Details)[0].AsFieldDetail()
	must(err)
	check(detail.Path == "/confirmAll", "detail", detail)

	forecast, err := client.ForecastViewRowsWithResponse(ctx, "view_1", nil)
	must(err)
	check(forecast.JSON200 != nil && len(forecast.JSON200.Data.Rows) > 0, "forecast", string(forecast.Body))
	onHand, found := forecast.JSON200.Data.Rows[0].Get("onHand")
	check(found && onHand != nil, "figure", forecast.JSON200.Data.Rows[0])

	fmt.Println("done")
}
