"""The attacks on a payment that we know, one row each, and where it is proven that they get nowhere (paths below tests/).

P1   Unpaid, with any body: the price, and nothing done.
     api/attacks/test_presenting.py::test_p01_an_unpaid_call_costs_nothing_whatever_it_sends
     e2e/test_attacks.py::test_p01_ten_megabytes_of_garbage_get_the_price
     e2e/test_raw_http.py::test_an_unpaid_body_that_does_not_come_is_not_waited_for
P2   A header that is no payment: not base64, not JSON, too deep, too long.
     api/attacks/test_presenting.py::test_p02_a_header_that_is_no_payment_is_refused_before_anything_is_looked_up
     e2e/test_attacks.py::test_p02_long_headers_are_refused_and_leave_nothing_in_memory
     api/payment/test_headers.py::test_what_cannot_be_decoded_is_refused_with_a_reason
     api/attacks/test_mutations.py::test_no_change_of_a_header_fails_here_or_pays_twice
P3   Two payments in one request.
     api/attacks/test_presenting.py::test_p03_two_payments_in_one_request_pay_nothing
     e2e/test_attacks.py::test_p03_two_payment_headers_pay_nothing
P4   One payment for each flavour of the header.
     api/attacks/test_presenting.py::test_p04_one_payment_is_not_good_once_for_each_flavour
     api/attacks/test_rails.py::test_p04_one_payment_is_served_once_however_it_is_dressed
P5   Another version or network, or ours written differently.
     api/attacks/test_presenting.py::test_p05_another_version_or_network_is_never_taken_for_ours
P6   Another amount, or ours written differently.
     api/attacks/test_amounts.py::test_p06_no_other_spelling_of_the_amount_pays
     api/attacks/test_amounts.py::test_p06_only_the_exact_digits_are_the_amount
P7   The units of one asset taken for another's.
     api/attacks/test_amounts.py::test_p07_every_offer_is_in_the_units_of_its_asset
     api/attacks/test_amounts.py::test_p07_the_price_is_never_rounded
P8   Right in `accepted`, wrong in what was signed.
     api/attacks/test_amounts.py::test_p08_what_was_signed_is_what_was_offered
     api/attacks/test_amounts.py::test_p08_the_facilitator_is_told_our_offer_and_not_the_clients
     shared/x402/test_evm.py::test_every_property_set_wrong_alone_is_refused
     shared/x402/test_solana.py::test_every_property_set_wrong_alone_is_refused
     shared/x402/test_stellar.py::test_every_property_set_wrong_alone_is_refused
     shared/x402/test_xrpl.py::test_every_field_set_wrong_alone_is_refused
     facilitator/test_refusals.py::test_a_wrong_payment_is_refused
P9   The payment of one call presented for another.
     api/attacks/test_using_twice.py::test_p09_a_payment_of_one_price_buys_nothing_of_another
     api/attacks/test_using_twice.py::test_p09_a_payment_buys_one_of_the_calls_of_its_price
     api/attacks/test_using_twice.py::test_p09_a_payment_that_names_another_call_is_told_so
     api/attacks/test_rails.py::test_p09_a_token_is_for_the_route_of_its_challenge
P10  The same request again.
     api/attacks/test_using_twice.py::test_p10_a_replay_is_answered_from_what_is_stored
     api/attacks/test_rails.py::test_a_payment_on_every_rail_buys_one_call
P11  The payment again, with another request.
     api/attacks/test_using_twice.py::test_p11_a_used_payment_buys_no_other_request
P12  The same request many times at once.
     api/attacks/test_using_twice.py::test_p12_a_race_of_copies_settles_and_runs_once
P13  One payment with many requests at once.
     api/attacks/test_using_twice.py::test_p13_a_race_of_different_requests_serves_one
P14  The body swapped on the way. On Solana and the XRP Ledger the signature covers a token that is for one body.
     api/attacks/test_rails.py::test_p14_a_token_is_for_the_body_of_its_challenge
     api/attacks/test_rails.py::test_p14_no_other_token_will_do
     api/attacks/test_rails.py::test_p14_a_token_is_good_for_ten_minutes
     api/payment/test_binding.py::test_another_request_is_not_its_request
     api/attacks/test_using_twice.py::test_p14_a_payment_belongs_to_the_body_that_it_came_with
     api/test_pipeline.py::test_what_is_public_on_the_chain_does_not_fetch_an_answer
P15  Expired, not valid yet, valid for ever.
     api/attacks/test_settling.py::test_p15_outside_its_window_nothing_is_settled
     shared/x402/test_evm.py::test_the_window_is_exact_to_the_second
     api/attacks/test_rails.py::test_p15_a_payment_that_reaches_the_ledger_after_its_time_is_refused
     api/test_pipeline.py::test_no_copy_is_settled_once_another_was_too_late
     api/payment/test_ledger.py::test_a_payment_is_claimed_in_time_or_never
P16  Somebody else broadcasts the payment first.
     facilitator/test_evm_rail.py::test_a_payment_that_somebody_else_sent_is_settled
     facilitator/test_evm_rail.py::test_a_stranger_who_is_faster_by_a_moment
     facilitator/test_evidence.py::test_a_payment_that_a_stranger_sent
     api/attacks/test_limits.py::test_p16_somebody_elses_broadcast_is_found_out_in_the_background
     api/attacks/test_limits.py::test_p16_a_used_nonce_is_looked_into_before_it_is_a_refusal
     api/test_money.py::test_a_refusal_of_what_was_paid_is_overruled
P17  Cancelled, or the account emptied, between the check and the settlement.
     api/attacks/test_settling.py::test_p17_a_payer_who_empties_the_wallet_after_the_check_gets_nothing
     facilitator/test_evm_rail.py::test_a_payer_who_cancels_at_the_last_moment
     facilitator/test_evm_rail.py::test_a_payer_who_empties_the_account_at_the_last_moment
P18  Presented again when our record of it has expired.
     api/attacks/test_settling.py::test_p18_what_was_used_cannot_be_used_again_when_its_record_is_gone
     api/test_money.py::test_the_ledger_remembers_longer_than_a_payment_is_valid
P19  HTTP 200 with `success: false`.
     api/attacks/test_settling.py::test_p19_success_false_is_a_refusal_whatever_the_status
     api/attacks/test_settling.py::test_p19_words_that_are_none_of_the_specification_go_nowhere
P20  A settlement whose answer is lost, broken or about something else.
     api/attacks/test_settling.py::test_p20_nothing_is_served_and_nothing_refused_while_it_is_unknown
     api/test_pipeline.py::test_an_unused_payment_is_refused_only_by_the_chains_clock
P21  A facilitator that redirects, does not end, or is an impostor.
     api/payment/test_facilitator.py::test_no_redirect_is_followed
     api/payment/test_facilitator.py::test_an_endless_answer_is_not_read
     api/payment/test_facilitator.py::test_tls_is_verified_before_anything_is_sent
P22  Slow settlements until honest ones time out.
     api/attacks/test_floods.py::test_p22_slow_settlements_take_no_more_than_the_seats
     api/test_money.py::test_a_payer_who_calls_too_often_is_429_and_not_charged
     api/test_money.py::test_a_payer_has_eight_calls_at_a_time
     api/attacks/test_limits.py::test_p22_one_payer_cannot_take_what_others_wait_for
     api/attacks/test_limits.py::test_p22_what_is_paid_is_collected_whatever_the_limit
     api/attacks/test_limits.py::test_p22_limits_can_be_switched_off
P23  Payments that look good, to be verified. There is no limit per address, and a verification's result is not kept.
     api/attacks/test_floods.py::test_p23_false_signatures_reach_no_facilitator
     api/attacks/test_floods.py::test_p23_wallet_signatures_are_verified_a_few_at_a_time
P24  Unsigned payments in another's name.
     api/attacks/test_floods.py::test_p24_nobody_is_burdened_with_what_others_say_in_his_name
     api/attacks/test_limits.py::test_p24_only_a_payment_that_is_good_counts_against_its_payer
P25  A chain that takes a payment back after it was served. A receipt counts when its transaction is in a block.
     api/test_money.py::test_p25_a_payment_that_the_chain_takes_back_is_told
     api/test_money.py::test_p25_a_facilitator_without_evidence_is_not_asked_twice
     api/test_money.py::test_p25_a_rail_that_loses_much_takes_nothing_new_for_an_hour
P26  A cache that gives a paid answer, a price or a payment to somebody else.
     api/attacks/test_answers.py::test_p26_no_answer_may_be_cached_and_none_shows_the_payment
P27  Solana: a transaction that does more than pay, or spends the fee payer's money.
     shared/x402/test_solana.py::test_every_property_set_wrong_alone_is_refused
     shared/x402/test_solana.py::test_a_program_is_never_the_fee_payer
     shared/x402/test_solana.py::test_a_message_with_the_fee_payer_hidden_behind_a_second_number_is_refused
     shared/x402/test_solana.py::test_no_change_of_a_signed_payment_passes
P28  Solana: one memo in two transactions. On the XRP Ledger one invoice.
     api/attacks/test_rails.py::test_p28_of_two_payments_with_one_token_one_is_taken
     api/attacks/test_rails.py::test_p28_one_challenge_is_paid_on_one_network
     api/payment/test_ledger.py::test_a_token_pays_once
P29  XRPL: a payment that delivers less than it says.
     shared/x402/test_xrpl.py::test_every_field_set_wrong_alone_is_refused
     facilitator/test_xrpl_rail.py::test_success_is_what_arrived
P30  XRPL: a token of the same name from another issuer.
     shared/x402/test_xrpl.py::test_every_field_set_wrong_alone_is_refused
     facilitator/test_xrpl_rail.py::test_requests_are_judged_before_the_ledger_is_asked
P31  XRPL: no last ledger, one that is far away or has passed; a sequence that is used elsewhere.
     shared/x402/test_xrpl.py::test_the_window_is_counted_in_ledgers
     facilitator/test_xrpl_rail.py::test_what_the_ledger_would_not_take_is_not_sent
     facilitator/test_xrpl_rail.py::test_a_sequence_that_was_used_elsewhere_is_refused_by_the_ledger_alone
P32  XRPL: tags, and the dialects of two kinds of client.
     shared/x402/test_xrpl.py::test_tags_are_those_of_the_offer
     shared/x402/test_xrpl.py::test_what_is_offered
     facilitator/test_xrpl_rail.py::test_both_dialects_settle
     clients/test_clients.py::test_an_independent_client_pays_and_is_served
P33  XRPL: the payment of another network.
     shared/x402/test_xrpl.py::test_a_private_network_is_named
     facilitator/test_xrpl_rail.py::test_the_wrong_network_is_refused
P34  Stellar: an authorization of more than the payment, or for longer.
     shared/x402/test_stellar.py::test_every_property_set_wrong_alone_is_refused
     shared/x402/test_stellar.py::test_the_window_by_hearsay
     facilitator/test_stellar_rail.py::test_an_entry_for_show_proves_nothing
     facilitator/test_stellar_rail.py::test_every_refusal_of_the_network_comes_before_anything_is_sent
P35  A chain's own coin.
     api/attacks/test_amounts.py::test_p35_a_chains_own_coin_is_not_taken
     shared/x402/test_xrpl.py::test_what_is_payable
     shared/x402/test_stellar.py::test_an_offer_of_another_form_is_not_payable
     api/attacks/test_amounts.py::test_p07_every_offer_is_in_the_units_of_its_asset
P36  Paid, and the job, its worker or its result is lost.
     api/attacks/test_answers.py::test_p36_a_job_that_is_lost_is_run_for_the_same_payment
     api/attacks/test_answers.py::test_p36_an_answer_that_was_not_stored_is_made_again
     api/test_dispatch.py::test_a_killed_worker_costs_no_answer
     api/test_dispatch.py::test_a_restarted_queue_costs_no_answer
     api/test_pipeline.py::test_a_lost_reply_is_found_in_the_ledger
     api/test_money.py::test_a_job_that_keeps_failing_rests
     api/test_money.py::test_what_was_never_answered_is_refundable
     e2e/test_processes.py::test_calls_survive_their_workers
P37  Answered, and the answer is lost.
     e2e/test_attacks.py::test_p37_an_answer_that_got_lost_is_fetched_with_the_same_request
     api/test_pipeline.py::test_a_late_answer_is_collected_later
P38  Paid, and the price changes before the answer is fetched.
     api/test_prices.py::test_a_payment_that_was_signed_before_is_taken_for_its_time
     api/test_prices.py::test_a_call_that_is_not_sold_any_more
     api/attacks/test_limits.py::test_p38_an_old_price_is_no_way_to_pay_less
P39  The path written differently.
     api/attacks/test_using_twice.py::test_p39_no_spelling_of_the_path_is_another_call
     e2e/test_attacks.py::test_p39_no_spelling_of_the_target_is_another_call
"""
